// A driver's side of the pipe: requests on stdin, answers and events on stdout, one JSON object a line.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(JSON.stringify(message) + "\n");

/** Tell the other end what has just happened here. */
export const event = (name, data) => write({ event: name, data });

/** Answer requests, many at a time, until stdin ends. */
export function serve(actions) {
  const input = createInterface({ input: process.stdin });
  input.on("line", async (line) => {
    const { id, do: action, ...rest } = JSON.parse(line);
    try {
      write({ id, ok: true, result: (await actions[action](rest)) ?? null });
    } catch (error) {
      write({ id, ok: false, error: `${error.name}: ${error.message}` });
    }
  });
  input.on("close", () => process.exit(0));
}

/** Connect to the namespace of the protocol with the library found in the directory of the first argument. */
export function connect({ url, headers, auth, transports }) {
  const { io } = createRequire(`${process.argv[2]}/`)("socket.io-client");
  const socket = io(`${url}/smcp`, {
    forceNew: true,
    reconnection: false,
    extraHeaders: headers,
    auth,
    ...(transports && { transports }),
  });
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.once("connect_error", (error) => reject(new Error(error.message)));
  });
}

/** Emit and return every argument of the acknowledgement. */
export const call = (socket, name, data) =>
  new Promise((resolve, reject) => {
    socket.timeout(20_000).emit(name, data, (error, ...answers) => (error ? reject(error) : resolve(answers)));
  });

/** Join or leave, which acknowledge with two arguments: whether it went well, and why not. */
export async function office(socket, name, data) {
  const [done, why] = await call(socket, name, data);
  if (!done) throw new Error(why);
}
