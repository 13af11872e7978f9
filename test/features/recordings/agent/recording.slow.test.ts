/** Recordings of a real Chromium's pages: what is in their pictures. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { placeOf } from "../../../../src/core/agent/connect-dev-tools.ts";
import { createFillTimes } from "../../../../src/core/agent/shown-pages.ts";
import { openUnnamedFile } from "../../../../src/core/agent/unnamed-file.ts";
import { startRecording } from "../../../../src/features/recordings/agent/recording.ts";
import { eventually } from "../../../support/eventually.ts";
import { listedOrder } from "../../../support/listed-order.ts";
import { launchChromium } from "../../../support/plain-chromium.ts";
import { type Colour, coloursOf, isNear } from "../../../support/recording-video.ts";

const red: Colour = [255, 0, 0];
const green: Colour = [0, 255, 0];
const blue: Colour = [0, 0, 255];
const grey: Colour = [128, 128, 128];

const has = (colours: readonly Colour[], wanted: Colour): boolean => colours.some((colour) => isNear(colour, wanted));

const parts = new AsyncDisposableStack();
let chromium: Browser;
let page: Page;
beforeAll(async () => {
  const profile = await mkdtemp(join(tmpdir(), "recording-"));
  parts.defer(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  chromium = await launchChromium(profile);
  parts.defer(() => chromium.close());
  page = (await chromium.pages())[0] ?? (await chromium.newPage());
});
afterAll(() => parts.disposeAsync());

const paint = (colour: string): Promise<void> =>
  page.evaluate(`document.body.style.background = ${JSON.stringify(colour)}`) as Promise<void>;
const pageOf = (colour: string): string => `data:text/html,<title>${colour}</title><body style="background:${colour}">`;

type Started = {
  fills: ReturnType<typeof createFillTimes>;
  over: AbortController;
  /** Resolves when the video has a picture of this colour. */
  untilSeen(colour: Colour): Promise<true>;
  /** Resolves when the encoder has got so many further pictures. */
  untilMore(pictures: number): Promise<true>;
  finish(): Promise<Colour[]>;
  ended: Promise<string>;
};

const start = async (over = new AbortController()): Promise<Started> => {
  const fills = createFillTimes();
  const file = await openUnnamedFile(tmpdir());
  parts.defer(() => file.close());
  const deps = {
    ffmpeg: "ffmpeg",
    usualSize: { width: 320, height: 240 },
    devTools: () => placeOf(chromium.wsEndpoint(), undefined),
    pageOrder: () => listedOrder,
    shownPages: fills,
  };
  const wanted = { framerate: 20, seconds: 60, max_bytes: 10e6 };
  const recording = await startRecording(wanted, { file, over: over.signal }, deps);
  const colours = async (): Promise<Colour[]> => {
    const pieces: Buffer[] = [];
    const written = recording.written();
    for (let at = 0; at < written; at += pieces.at(-1)?.length ?? 0) pieces.push(await file.read(at, written));
    return coloursOf(Buffer.concat(pieces));
  };
  return {
    fills,
    over,
    ended: recording.ended,
    untilSeen: (colour) =>
      eventually(`${colour} is in the video`, async () => has(await colours(), colour) || undefined),
    untilMore(pictures) {
      const wanted = recording.counts().frames + pictures;
      return eventually(`${pictures} more pictures`, () => recording.counts().frames >= wanted || undefined);
    },
    async finish() {
      await recording.stop("stopped");
      return colours();
    },
  };
};

// REPLAY-3, REPLAY-4
test("a page's changes are in the video, and nothing of a page that a vault fills", async () => {
  await page.goto(pageOf("red"));
  const { fills, untilSeen, untilMore, finish } = await start();
  await untilSeen(red);
  const end = fills.begin();
  await paint("lime");
  await untilSeen(grey);
  end();
  // It may still show what was filled.
  await page.reload();
  await paint("lime");
  await untilMore(3);
  // A document that begins within the time of one question after the end counts as one of before.
  await sleep(1000);
  await page.goto(pageOf("blue"));
  await untilSeen(blue);
  expect(has(await finish(), green)).toBe(false);
});

// REPLAY-3
test("the same green page is in the video when no vault fills it, and so is the tab that it opens", async () => {
  await page.goto(pageOf("lime"));
  const { untilSeen, finish } = await start();
  await untilSeen(green);
  const opened = new Promise<Page | null>((resolve) => page.once("popup", resolve));
  await page.evaluate(`void open("about:blank").document.write('<body style="background:blue">')`);
  const popup = await opened;
  await untilSeen(blue);
  await popup?.close();
  await finish();
});

// REPLAY-5
test("nothing is seen once the lease is over", async () => {
  await page.goto(pageOf("red"));
  const { over, untilSeen, finish, ended } = await start();
  await untilSeen(red);
  over.abort();
  await page.goto(pageOf("blue"));
  expect(await ended).toBe("lease_over");
  expect(has(await finish(), blue)).toBe(false);
});

// REPLAY-5
test("a recording whose lease ends while it starts ends with it, before any picture", async () => {
  await page.goto(pageOf("red"));
  const over = new AbortController();
  over.abort();
  const { ended, finish } = await start(over);
  expect(await ended).toBe("lease_over");
  expect(has(await finish(), red)).toBe(false);
});
