// Node's socket.io-client as Agent: the events of the protocol, written out.

import { randomUUID } from "node:crypto";
import { call, connect, event, office, serve } from "./lines.mjs";

let socket;
let agent;

/** Send a request that a Computer answers. */
async function request(name, fields) {
  const [answer] = await call(socket, name, { agent, req_id: randomUUID(), ...fields });
  if (answer.error && !("isError" in answer)) throw new Error(`${answer.error.code} ${answer.error.message}`);
  return answer;
}

serve({
  async connect({ name, ...where }) {
    agent = name;
    socket = await connect(where);
    socket.onAny((name, data) => event(name, data));
    return { transport: socket.io.engine.transport.name };
  },
  join: ({ office: id }) => office(socket, "server:join_office", { role: "agent", name: agent, office_id: id }),
  leave: ({ office: id }) => office(socket, "server:leave_office", { office_id: id }),
  async list_room({ office: id }) {
    const { sessions } = await request("server:list_room", { office_id: id });
    return sessions.filter((session) => session.role === "computer");
  },
  get_tools: async ({ computer }) => (await request("client:get_tools", { computer })).tools,
  get_desktop: async ({ computer }) => (await request("client:get_desktop", { computer })).desktops,
  get_config: ({ computer }) => request("client:get_config", { computer }),
  tool_call({ computer, tool, params, timeout = 20 }) {
    const req_id = randomUUID();
    event("peer:tool_call", { req_id });
    return request("client:tool_call", { req_id, computer, tool_name: tool, params, timeout });
  },
  cancel: async ({ req_id }) => void socket.emit("server:tool_call_cancel", { agent, req_id }),
  call: async ({ event: name, data }) => (await call(socket, name, data))[0],
  close: async () => void socket?.disconnect(),
});
