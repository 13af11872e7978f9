/** The calls by which a holder has its session's mouse, keyboard and clipboard: contracts for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Larger than every screen. */
const mostPixels = 16_384;

const pixel = (what: string) =>
  z.int().min(0).max(mostPixels).describe(`${what}, pixels of the screen from its top left.`);

/** Longest wait of one action, and of all actions of a batch together, ms. */
export const mostMs = 60_000;

const ms = (what: string) => z.int().min(0).max(mostMs).describe(`${what}, ms.`);

/** Most keys of one press, and longest name of a key. */
const key = z.string().min(1).max(100);
const keys = z.array(key).min(1).max(100);

const holdKeys = z
  .array(key)
  .max(10)
  .optional()
  .describe("Keys that are held down meanwhile, by X11's names: Shift, Ctrl, Alt, Super.");

const ClickMouse = z.object({
  x: pixel("Where"),
  y: pixel("Where"),
  button: z.enum(["left", "right", "middle", "back", "forward"]).optional().describe("By default left."),
  click_type: z.enum(["down", "up", "click"]).optional().describe("By default click: down and up."),
  num_clicks: z.int().min(1).max(10).optional().describe("So many clicks; 2 is a double click."),
  hold_keys: holdKeys,
});

const MoveMouse = z.object({
  x: pixel("Where to"),
  y: pixel("Where to"),
  smooth: z.boolean().optional().describe("Along a curve, as a person's hand would; by default at once."),
  duration_ms: ms("With smooth: how long it takes; by default by the distance").optional(),
  hold_keys: holdKeys,
});

const point = z.tuple([pixel("x"), pixel("y")]);

const DragMouse = z.object({
  path: z.array(point).min(2).max(1000).describe("The points that the mouse is dragged through, as [x, y]."),
  button: z.enum(["left", "middle", "right"]).optional().describe("By default left."),
  delay: ms("Time between the button's press and the first move").optional(),
  smooth: z.boolean().optional().describe("Along curves, as a person's hand would."),
  duration_ms: ms("With smooth: how long the moves take together; by default by the distance").optional(),
  steps_per_segment: z.int().min(1).max(1000).optional().describe("Without smooth: moves from a point to the next."),
  step_delay_ms: ms("Without smooth: time between two moves").optional(),
  hold_keys: holdKeys,
});

const Scroll = z.object({
  x: pixel("Where"),
  y: pixel("Where"),
  delta_x: z.int().min(-1000).max(1000).optional().describe("Notches of the wheel to the right; negative to the left."),
  delta_y: z.int().min(-1000).max(1000).optional().describe("Notches of the wheel down; negative up."),
  hold_keys: holdKeys,
});

const PressKey = z.object({
  keys: keys.describe("Keys by X11's names, such as Return, F5, Ctrl+t; pressed one after the other."),
  duration: ms("How long they are held; by default they are tapped").optional(),
  hold_keys: holdKeys,
});

const TypeText = z.object({
  text: z.string().min(1).max(10_000),
  delay: z.int().min(0).max(5000).optional().describe("Time between two characters, ms."),
});

const SetCursor = z.object({ hidden: z.boolean().describe("Whether screenshots are without the mouse's pointer.") });

const Sleep = z.object({ duration_ms: ms("How long") });

/** What a batch can have, by the word of its type. */
const actions = {
  click_mouse: ClickMouse,
  move_mouse: MoveMouse,
  drag_mouse: DragMouse,
  scroll: Scroll,
  press_key: PressKey,
  type_text: TypeText,
  set_cursor: SetCursor,
  sleep: Sleep,
} as const;

export type Actions = { [Type in keyof typeof actions]: z.output<(typeof actions)[Type]> };

/** One action of a batch: its type, and the field of that name. */
export type BatchAction = {
  [Type in keyof Actions]: { type: Type } & { [Field in Type]: Actions[Type] };
}[keyof Actions];

const batchAction = z.discriminatedUnion(
  "type",
  Object.entries(actions).map(([type, schema]) => z.object({ type: z.literal(type), [type]: schema })) as never,
) as unknown as z.ZodType<BatchAction>;

const Region = z.object({
  x: pixel("Left edge"),
  y: pixel("Top edge"),
  width: z.int().min(1).max(mostPixels),
  height: z.int().min(1).max(mostPixels),
});

const action = <Body extends z.ZodType>(name: string, body: Body) =>
  callContract({ method: "post", name: `computer/${name}`, body, answer: undefined });

/** Presses, releases or clicks a button of the mouse. */
export const clickMouse = action("click_mouse", ClickMouse);

/** Moves the mouse. */
export const moveMouse = action("move_mouse", MoveMouse);

/** Drags the mouse with a button held. */
export const dragMouse = action("drag_mouse", DragMouse);

/** Turns the wheel of the mouse. */
export const scroll = action("scroll", Scroll);

/** Presses keys and combinations of keys. */
export const pressKey = action("press_key", PressKey);

/** Types text as a keyboard would that has every character. */
export const typeText = action("type", TypeText);

/** Several actions, one after the other, up to the first that fails. */
export const batch = action("batch", z.object({ actions: z.array(batchAction).min(1).max(200) }));

/** Shows or hides the mouse's pointer in screenshots. */
export const setCursor = callContract({
  method: "post",
  name: "computer/cursor",
  body: SetCursor,
  answer: z.object({ ok: z.boolean() }),
});

/** Where the mouse is. */
export const mousePosition = callContract({
  method: "post",
  name: "computer/get_mouse_position",
  answer: z.object({ x: z.int(), y: z.int() }),
});

/** A picture of the screen as PNG. */
export const screenshot = callContract({
  method: "post",
  name: "computer/screenshot",
  body: z.object({ region: Region.optional().describe("By default the whole screen.") }),
  answer: { files: "image/png" },
});

/** Largest text of the clipboard, characters: an X server takes no more than 256 KiB at once, and a character has up to 3 bytes. */
const mostClipboard = 64 * 1024;

/** The text that is in the clipboard; empty without one. */
export const readClipboard = callContract({
  method: "post",
  name: "computer/clipboard/read",
  answer: z.object({ text: z.string() }),
});

/** Puts a text into the clipboard. */
export const writeClipboard = callContract({
  method: "post",
  name: "computer/clipboard/write",
  body: z.object({ text: z.string().max(mostClipboard) }),
  answer: undefined,
});
