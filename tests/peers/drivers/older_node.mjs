// The conformance suite imports `fs.globSync`, which Node has from 22 on, for commands that are not used here.
// Preloaded with --import, this gives older releases a name to import.
import * as fs from "node:fs";
import { register } from "node:module";

const inline = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

if (!("globSync" in fs)) {
  const complete = inline(
    `export * from "node:fs"; export const globSync = () => { throw new Error("fs.globSync needs Node 22"); };`,
  );
  register(
    inline(`export const resolve = async (specifier, context, next) =>
      specifier === "fs" ? { url: ${JSON.stringify(complete)}, shortCircuit: true } : next(specifier, context);`),
  );
}
