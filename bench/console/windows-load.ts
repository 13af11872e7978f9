/**
 * Open windows of the console, in their own process: each reads the event stream of the project from its begin, as fast
 * as it comes, for so many seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Job } from "../own-process.ts";

export type WindowsLoad = { url: string; apiKey: string; windows: number; seconds: number };

/** Bytes and events that each window has read. */
export type WindowsResult = { bytes: number; events: number };

export const run: Job<WindowsLoad, WindowsResult> = async ({ url, apiKey, windows, seconds }, signal) => {
  const dispatcher = new Agent({ connections: windows, bodyTimeout: 0 });
  const gone = new AbortController();
  const ended = AbortSignal.any([signal, gone.signal]);
  const read = { bytes: 0, events: 0 };
  const open = async (): Promise<void> => {
    const { statusCode, body } = await request(`${url}/events/stream?initial_events=true`, {
      headers: { authorization: `Bearer ${apiKey}` },
      dispatcher,
      signal: ended,
    });
    if (statusCode !== 200) throw new Error(`a stream was answered with ${statusCode}`);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      read.bytes += chunk.length;
      for (let at = chunk.indexOf("data: "); at >= 0; at = chunk.indexOf("data: ", at + 6)) read.events += 1;
    }
    throw new Error("a stream has ended");
  };
  const streams = Array.from({ length: windows }, () =>
    open().catch((error: unknown) => {
      if (!ended.aborted) throw error;
    }),
  );
  await Promise.race([Promise.all(streams), sleep(seconds * 1000, undefined, { signal })]);
  gone.abort();
  await Promise.all(streams);
  await dispatcher.destroy();
  return { bytes: read.bytes / windows, events: read.events / windows };
};
