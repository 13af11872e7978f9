import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const pages = join(import.meta.dirname, "../features/vaults/fill/pages");
const require = createRequire(import.meta.url);
const text = (path: string): string => readFileSync(path, "utf8");

/**
 * React has no build for browsers without a bundler, so this puts its CommonJS files into one script that sets two
 * globals.
 */
const reactScript = (): string => {
  const dom = require.resolve("react-dom/package.json");
  const files = {
    react: require.resolve("react").replace(/index\.js$/, "cjs/react.production.js"),
    "react-dom": join(dom, "../cjs/react-dom.production.js"),
    "react-dom/client": join(dom, "../cjs/react-dom-client.production.js"),
    scheduler: join(createRequire(dom).resolve("scheduler/package.json"), "../cjs/scheduler.production.js"),
  };
  const modules = Object.entries(files).map(([name, path]) => `"${name}"(exports, require) {${text(path)}\n}`);
  return `(() => {
    const modules = {${modules.join(",")}};
    const loaded = {};
    const require = (name) => {
      if (!loaded[name]) modules[name](loaded[name] = {}, require);
      return loaded[name];
    };
    window.React = require("react");
    window.ReactDOM = require("react-dom/client");
  })()`;
};

const vueScript = (): string => text(join(require.resolve("vue/package.json"), "../dist/vue.global.prod.js"));

export type FillSite = {
  /** URL of `pages/<name>.html`; its frames of another site run in other processes. */
  url(name: string): string;
  origin: string;
  /** The same server under another host name, which a browser treats as another site. */
  otherOrigin: string;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Serves test/features/vaults/fill/pages on 127.0.0.1 and localhost. `/never` is accepted and not answered. */
export const startFillSite = async (): Promise<FillSite> => {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === "/never") return;
    const isScript = path.endsWith(".js");
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    if (path === "/vendor/react.js") response.end(reactScript());
    else if (path === "/vendor/vue.js") response.end(vueScript());
    else {
      const page = await readFile(join(pages, path), "utf8").catch(() => undefined);
      if (page === undefined) response.statusCode = 404;
      response.end(page?.replaceAll("{{origin}}", hosts.own).replaceAll("{{other}}", hosts.other));
    }
  };
  const server = createServer((request, response) => {
    void answer((request.url ?? "/").split("?")[0] ?? "/", response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const hosts = { own: `http://127.0.0.1:${port}`, other: `http://localhost:${port}` };
  return {
    url: (name) => `${hosts.own}/${name}.html`,
    origin: hosts.own,
    otherOrigin: hosts.other,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
