// Loaded into a process by `--import`: appends a line to the file WATCH_DNS_FILE for every name that the process has
// resolved, by whichever function of Node: the system's resolver and queries of its own have these two types of
// resources.
import { createHook } from "node:async_hooks";
import { appendFileSync } from "node:fs";

const file = process.env.WATCH_DNS_FILE ?? "";
const queries = new Set(["GETADDRINFOREQWRAP", "QUERYWRAP"]);

createHook({
  init(_id, type) {
    if (queries.has(type)) appendFileSync(file, `${type}\n`);
  },
}).enable();
