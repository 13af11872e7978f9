import { createServer } from "node:http";
import { createOpsApp, type OpsDeps } from "../core/http/ops/ops-app.ts";
import { closeServer, listen } from "./listen.ts";

/** Time for a scrape to end when the process stops, ms. */
const closeGraceMs = 1000;

/** Serves probes and metrics until `parts` is disposed of. Returns their URL, undefined without an ops port. */
export const startOps = async (deps: OpsDeps, parts: AsyncDisposableStack): Promise<string | undefined> => {
  const { config, log } = deps;
  if (config.opsPort === undefined) return undefined;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, createOpsApp(deps));
  const url = await listen(server, config.host, config.opsPort);
  parts.defer(() => closeServer(server, closeGraceMs));
  log.info({ listen: url }, "ops port is open");
  return url;
};
