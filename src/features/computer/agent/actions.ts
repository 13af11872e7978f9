/**
 * What a holder asks of hands, step by step. A button or a key that an action has pressed is released at its end,
 * whatever happens in between.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import type { Actions, BatchAction } from "../calls.ts";
import { mostMs } from "../calls.ts";
import type { Button, Hands } from "./hands.ts";
import { keysOf, keysymOf } from "./keys.ts";
import { smoothPath, smoothPathThrough, straightPath, type TimedPoint } from "./mouse-path.ts";

const buttons = { left: 1, middle: 2, right: 3, back: 8, forward: 9 } as const satisfies Record<string, Button>;

/** Time between the two halves of a click and between clicks, ms: pages tell a double click by it. */
const clickMs = 20;

/** Steps and pauses of a drag that says none. */
const usualDrag = { steps: 10, pauseMs: 10 } as const;

export type ActionDeps = {
  hands: Hands;
  /** From 0 up to 1. */
  random(): number;
  signal: AbortSignal;
  /** Whether screenshots have the mouse's pointer. */
  pointer: { isShown: boolean };
};

const keysymsOf = (names: readonly string[], field: string): number[][] =>
  names.map((name, index) => {
    const found = keysOf(name);
    if ("keysyms" in found) return found.keysyms;
    throw new CallRefused("bad_request", `${field}[${index}]: there is no key ${JSON.stringify(found.unknown)}`);
  });

/** Holds keys down while something is done. */
const holding = async (
  names: readonly string[] | undefined,
  { hands }: ActionDeps,
  work: () => Promise<void>,
): Promise<void> => {
  const keysyms = keysymsOf(names ?? [], "hold_keys").flat();
  await hands.prepareKeys(keysyms);
  const held: number[] = [];
  try {
    for (const keysym of keysyms) {
      held.unshift(keysym);
      await hands.key(keysym, true);
    }
    await work();
  } finally {
    for (const keysym of held) await hands.key(keysym, false);
  }
};

/** Refuses a place that is not on the screen. */
const onScreen = async (places: readonly { x: number; y: number }[], { hands }: ActionDeps): Promise<void> => {
  const { width, height } = await hands.size();
  const outside = places.find(({ x, y }) => x >= width || y >= height);
  if (outside)
    throw new CallRefused("bad_request", `${outside.x},${outside.y} is not on the screen, which is ${width}x${height}`);
};

/** Goes along a way, in its time; places whose time has passed are left out, but for the last. */
const follow = async (way: readonly TimedPoint[], { hands, signal }: ActionDeps): Promise<void> => {
  const beginMs = performance.now();
  for (const [index, place] of way.entries()) {
    const leftMs = place.atMs - (performance.now() - beginMs);
    if (leftMs < 0 && index < way.length - 1 && (way[index + 1]?.atMs ?? 0) < performance.now() - beginMs) continue;
    if (leftMs > 0) await sleep(leftMs, undefined, { signal });
    await hands.move(place);
  }
};

const click = (asked: Actions["click_mouse"], deps: ActionDeps): Promise<void> => {
  const { hands, signal } = deps;
  const { x, y, button: name = "left", click_type: half = "click", num_clicks: clicks = 1 } = asked;
  const button = buttons[name];
  return holding(asked.hold_keys, deps, async () => {
    await onScreen([{ x, y }], deps);
    await hands.move({ x, y });
    if (half !== "click") return hands.button(button, half === "down");
    for (let done = 0; done < clicks; done += 1) {
      if (done > 0) await sleep(clickMs, undefined, { signal });
      await hands.button(button, true);
      try {
        await sleep(clickMs, undefined, { signal });
      } finally {
        await hands.button(button, false);
      }
    }
  });
};

const move = (asked: Actions["move_mouse"], deps: ActionDeps): Promise<void> =>
  holding(asked.hold_keys, deps, async () => {
    const to = { x: asked.x, y: asked.y };
    await onScreen([to], deps);
    if (!asked.smooth) return deps.hands.move(to);
    const from = await deps.hands.position();
    await follow(smoothPath({ from, to, durationMs: asked.duration_ms }, deps.random), deps);
  });

const drag = (asked: Actions["drag_mouse"], deps: ActionDeps): Promise<void> => {
  const { hands, signal, random } = deps;
  const button = buttons[asked.button ?? "left"];
  const points = asked.path.map(([x, y]) => ({ x, y }));
  const [first] = points;
  return holding(asked.hold_keys, deps, async () => {
    await onScreen(points, deps);
    if (!first) return;
    const { steps_per_segment: steps = usualDrag.steps, step_delay_ms: pauseMs = usualDrag.pauseMs } = asked;
    const way = asked.smooth
      ? smoothPathThrough(points, asked.duration_ms, random)
      : straightPath(points, { steps, pauseMs });
    if ((way.at(-1)?.atMs ?? 0) > mostMs)
      throw new CallRefused("bad_request", `path: takes ${way.at(-1)?.atMs} ms, and ${mostMs} are the most`);
    await hands.move(first);
    await hands.button(button, true);
    try {
      await sleep(asked.delay ?? 0, undefined, { signal });
      await follow(way, deps);
    } finally {
      await hands.button(button, false);
    }
  });
};

const scroll = (asked: Actions["scroll"], deps: ActionDeps): Promise<void> =>
  holding(asked.hold_keys, deps, async () => {
    const at = { x: asked.x, y: asked.y };
    await onScreen([at], deps);
    await deps.hands.move(at);
    await deps.hands.wheel({ x: asked.delta_x ?? 0, y: asked.delta_y ?? 0 });
  });

/** Presses keys together, and releases them the other way round. */
const chord = async (keysyms: readonly number[], durationMs: number, { hands, signal }: ActionDeps): Promise<void> => {
  const pressed: number[] = [];
  try {
    for (const keysym of keysyms) {
      pressed.unshift(keysym);
      await hands.key(keysym, true);
    }
    if (durationMs > 0) await sleep(durationMs, undefined, { signal });
  } finally {
    for (const keysym of pressed) await hands.key(keysym, false);
  }
};

const pressKeys = (asked: Actions["press_key"], deps: ActionDeps): Promise<void> => {
  const chords = keysymsOf(asked.keys, "keys");
  return holding(asked.hold_keys, deps, async () => {
    for (const keysyms of chords) {
      await deps.hands.prepareKeys(keysyms);
      await chord(keysyms, asked.duration ?? 0, deps);
    }
  });
};

const type = async ({ text, delay = 0 }: Actions["type_text"], deps: ActionDeps): Promise<void> => {
  if (!text.isWellFormed()) throw new CallRefused("bad_request", "text: names half a surrogate pair");
  const keysyms = [...text.replaceAll("\r\n", "\n")].map(keysymOf);
  if (keysyms.length * delay > mostMs)
    throw new CallRefused("bad_request", `delay: the text would take more than ${mostMs} ms`);
  for (let from = 0; from < keysyms.length; ) {
    const ready = keysyms.slice(from, from + (await deps.hands.prepareKeys(keysyms.slice(from))));
    for (const keysym of ready) {
      await chord([keysym], 0, deps);
      if (delay > 0) await sleep(delay, undefined, { signal: deps.signal });
    }
    from += Math.max(1, ready.length);
  }
};

const performers: { [Type in keyof Actions]: (asked: Actions[Type], deps: ActionDeps) => Promise<void> } = {
  click_mouse: click,
  move_mouse: move,
  drag_mouse: drag,
  scroll,
  press_key: pressKeys,
  type_text: type,
  async set_cursor({ hidden }, { pointer }) {
    pointer.isShown = !hidden;
  },
  async sleep({ duration_ms }, { signal }) {
    await sleep(duration_ms, undefined, { signal });
  },
};

/** Does one thing, and waits until the browser has taken it. Throws a `CallRefused` for what can't be done, and the reason of the signal. */
export const perform = async <Type extends keyof Actions>(
  type: Type,
  asked: Actions[Type],
  deps: ActionDeps,
): Promise<void> => {
  await performers[type](asked, deps);
  await deps.hands.settle();
};

/** Refuses pauses that together are longer than a call may take, before anything is done. */
const checkPauses = (actions: readonly BatchAction[]): void => {
  const pausesMs = actions.reduce((sum, action) => sum + (action.type === "sleep" ? action.sleep.duration_ms : 0), 0);
  if (pausesMs > mostMs)
    throw new CallRefused("bad_request", `actions: wait ${pausesMs} ms, and ${mostMs} are the most`);
};

/** Does several things, up to the first that fails, which the error names. */
export const performAll = async (actions: readonly BatchAction[], deps: ActionDeps): Promise<void> => {
  checkPauses(actions);
  for (const [index, action] of actions.entries()) {
    const asked = (action as Record<string, unknown>)[action.type];
    try {
      await perform(action.type, asked as never, deps);
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      throw new CallRefused(error.code, `actions[${index}].${action.type}: ${error.message}`, { cause: error });
    }
  }
};
