/**
 * A server that does as little as Node's own can: it reads the JSON of a request and answers it. Sends its port to its
 * parent.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listeningPort } from "../../src/platform/base/listening-port.ts";

const server = createServer(async (request, response) => {
  JSON.parse(await text(request));
  response.writeHead(204).end();
});
server.listen(0, "127.0.0.1", () => process.send?.(listeningPort(server)));
process.once("disconnect", () => process.exit());
