/** The ways of the replicas to Redis: one link each through toxiproxy, which the faults make slow, cut or silent. */
import { mkdir } from "node:fs/promises";
import { freePort } from "../../../src/local/free-port.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { eventually } from "../../support/eventually.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { startProgram } from "./program.ts";

/** `downstream`: what Redis answers; `upstream`: what it is asked. Times in ms. */
type Toxic =
  | { type: "latency"; stream: "downstream" | "upstream"; attributes: { latency: number; jitter: number } }
  /** Nothing goes through; connections break when the toxic is taken off. */
  | { type: "timeout"; stream: "downstream" | "upstream"; attributes: { timeout: 0 } }
  /** A connection breaks when this much has gone through it. */
  | { type: "limit_data"; stream: "downstream" | "upstream"; attributes: { bytes: number } }
  | { type: "bandwidth"; stream: "downstream" | "upstream"; attributes: { rate: number } };

export type Link = {
  name: string;
  port: number;
  /** Puts a toxic on it and gives the way to take it off again. */
  poison(toxic: Toxic): Promise<() => Promise<void>>;
  /** Breaks its connections and refuses new ones, or takes them again. */
  enable(isEnabled: boolean): Promise<void>;
};

export type Links = {
  /** A new link to the present target. */
  add(name: string): Promise<Link>;
  /** All links lead to this loopback port from now on; present connections break. */
  aim(port: number): Promise<void>;
  stop(): Promise<void>;
};

type LinksOptions = { program: string; folder: string; logPath: string; target: number; recorder: Recorder };

/** For faults that poison links: why they can't be caused on this machine, if they can't. */
export const withoutToxiproxy = (): string | undefined =>
  locatePrograms(process.env).toxiproxy ? undefined : "toxiproxy is missing";

const requestMs = 10_000;

export const startLinks = async ({ program, folder, logPath, target, recorder }: LinksOptions): Promise<Links> => {
  await mkdir(folder, { recursive: true });
  const control = await freePort("127.0.0.1");
  const proxy = await startProgram({
    name: "toxiproxy",
    command: [program, "-host", "127.0.0.1", "-port", String(control)],
    env: { LOG_LEVEL: "warn" },
    cwd: folder,
    logPath,
    recorder,
  });
  const ask = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${control}${path}`, {
      method,
      signal: AbortSignal.timeout(requestMs),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`toxiproxy: ${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as Answer;
  };
  await eventually("toxiproxy answers", () =>
    ask("GET", "/version").then(
      () => true,
      () => false,
    ),
  );
  const names: string[] = [];
  let upstream = `127.0.0.1:${target}`;
  let lastToxic = 0;
  return {
    async add(name) {
      const { listen } = await ask<{ listen: string }>("POST", "/proxies", {
        name,
        listen: "127.0.0.1:0",
        upstream,
        enabled: true,
      });
      names.push(name);
      return {
        name,
        port: Number(listen.split(":").at(-1)),
        async poison(toxic) {
          lastToxic += 1;
          const path = `/proxies/${name}/toxics`;
          const toxicName = `${toxic.type}-${lastToxic}`;
          await ask("POST", path, { ...toxic, name: toxicName, toxicity: 1 });
          return () => ask("DELETE", `${path}/${toxicName}`);
        },
        enable: (enabled) => ask("POST", `/proxies/${name}`, { enabled }),
      };
    },
    async aim(port) {
      upstream = `127.0.0.1:${port}`;
      await Promise.all(names.map((name) => ask("POST", `/proxies/${name}`, { upstream })));
    },
    stop: () => proxy.stop(5000),
  };
};
