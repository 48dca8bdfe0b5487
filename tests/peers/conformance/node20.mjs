// The suite imports `globSync` from "fs" for its audit of repositories, which is not used here. Node 20 has no such
// function, and would not even load the suite: `node --import node20.mjs` gives it one that is never called.
import fs from "node:fs";
import { register } from "node:module";

const asModule = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

if (!("globSync" in fs)) {
  const names = Object.keys(fs).join(", ");
  const shim = asModule(`import fs from "node:fs"; export default fs;
    export const globSync = undefined; export const { ${names} } = fs;`);
  register(asModule(`export const resolve = (specifier, context, next) =>
    specifier === "fs" && context.parentURL?.includes("/conformance/")
      ? { url: ${JSON.stringify(shim)}, shortCircuit: true }
      : next(specifier, context);`));
}
