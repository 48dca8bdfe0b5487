// Node's socket.io-client as Computer: it answers `client:*` with canned data and a tool that is slow.

import { connect, event, office, serve } from "./lines.mjs";

const WINDOW = "window://demo/board?priority=50";
const running = new Map();
let socket;
let computer;

const tool = (name, description, property, type) => ({
  name,
  description,
  params_schema: { type: "object", properties: { [property]: { type } }, required: [property] },
  return_schema: null,
  meta: {},
});

const said = (text, isError = false) => ({ content: [{ type: "text", text }], isError });

const answers = {
  "client:get_tools": ({ req_id }) => ({
    tools: [tool("echo", "Say it again.", "text", "string"), tool("sleep_ms", "Answer after a while.", "ms", "integer")],
    req_id,
  }),
  "client:get_desktop": ({ req_id }) => ({ desktops: [`${WINDOW}\n\nNothing is due today.`], req_id }),
  "client:get_config": () => ({ servers: {}, inputs: [] }),
  "client:tool_call"({ req_id, tool_name, params }) {
    if (tool_name === "echo") return said(params.text);
    if (tool_name !== "sleep_ms") return said(`no tool ${tool_name}`, true);
    return new Promise((resolve) => {
      running.set(req_id, resolve);
      setTimeout(resolve, params.ms, said(`slept ${params.ms} ms`));
    }).finally(() => running.delete(req_id));
  },
};

serve({
  async connect({ name, ...where }) {
    computer = name;
    socket = await connect(where);
    socket.onAny(async (name, data, acknowledge) => {
      event(name, data);
      if (name === "notify:tool_call_cancel") running.get(data.req_id)?.(said("cancelled", true));
      if (answers[name]) acknowledge(await answers[name](data));
    });
    return { transport: socket.io.engine.transport.name };
  },
  join: ({ office: id }) => office(socket, "server:join_office", { role: "computer", name: computer, office_id: id }),
  leave: ({ office: id }) => office(socket, "server:leave_office", { office_id: id }),
  emit_update: async ({ what }) => void socket.emit(`server:update_${what}`, { computer }),
  close: async () => void socket?.disconnect(),
});
