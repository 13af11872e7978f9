import { once } from "node:events";
import { createServer } from "node:http";
import { listeningPort } from "../../src/platform/base/listening-port.ts";

export type FormSite = AsyncDisposable & { url: string };

/** A site of one page, which has the field `#user`. */
export const startFormSite = async (): Promise<FormSite> => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(`<input id="user">`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${listeningPort(server)}/`,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
};
