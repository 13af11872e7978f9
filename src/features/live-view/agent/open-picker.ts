/**
 * The list of a `<select>`, and the picker of a date or a colour: Chromium opens them in windows of their own, which no
 * picture has. They are looked for after input, and offered to viewers.
 */

import { z } from "zod";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { evaluateApart, tell } from "../../../platform/cdp/commands.ts";
import type { Asks, NewAsk } from "./ask.ts";
import { framesOf } from "./frames-of.ts";
import type { AnswerMessage } from "./messages.ts";

const timeoutMs = 2000;

/** A picker opens a moment after the input that opens it; the page may take longer, ms. */
const looksMs = [80, 500];
/** While one is offered, it is looked after so often, ms: the page may close it. */
const againMs = 500;

const maxOptions = 2000;
const maxChars = 200;

/**
 * The focused field of a document, whose picker is open. Run in a world of its own: the page's changes have no effect
 * there.
 */
const focused = `(() => {
  let field = document.activeElement;
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement;
  return field?.matches?.("select:open, input:open") ? field : undefined;
})()`;

const read = `(() => {
  const field = ${focused};
  if (!field) return null;
  const short = (text) => String(text).slice(0, ${maxChars});
  if (field instanceof HTMLSelectElement)
    return { kind: "choice", chosen: field.selectedIndex, options: [...field.options].slice(0, ${maxOptions}).map((option) => ({
      label: short(option.label), group: short(option.parentElement instanceof HTMLOptGroupElement ? option.parentElement.label : ""),
      disabled: option.disabled || option.parentElement?.disabled === true || option.hidden })) };
  return { kind: "value", input: field.type, value: short(field.value), min: short(field.min), max: short(field.max), step: short(field.step) };
})()`;

const text = z.string().max(maxChars);
const Picker = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("choice"),
    chosen: z.int(),
    options: z.array(z.object({ label: text, group: text, disabled: z.boolean() })).max(maxOptions),
  }),
  z.object({ kind: z.literal("value"), input: text, value: text, min: text, max: text, step: text }),
]);
type Picker = z.infer<typeof Picker>;

/** Sets the value of the focused field, as its picker does. */
const setValue = (value: string): string => `(() => {
  let field = document.activeElement;
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement;
  if (!(field instanceof HTMLInputElement) || field.disabled || field.readOnly) return;
  field.value = ${JSON.stringify(value)};
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true, composed: type === "input" }));
})()`;

const keyCodes = { Home: 36, ArrowDown: 40, Enter: 13, Escape: 27 };

type PickersDeps = { cdp: CdpConnection; sessionId: string; asks: Asks; mask(text: string): string };

/** `look`: a picker may have opened. */
export const watchPickers = ({ cdp, sessionId, asks, mask }: PickersDeps): { look(): void; stop(): void } => {
  const call = { sessionId, timeoutMs };
  let timers: NodeJS.Timeout[] = [];
  let isLooking = false;
  /** Rises with each answer: what was seen before may be closing. */
  let answers = 0;
  let offered: { is: string; close(): void } | undefined;

  const press = (key: keyof typeof keyCodes): void => {
    // An open picker takes keys before the page does.
    for (const type of ["rawKeyDown", "keyUp"] as const)
      tell(cdp.send("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: keyCodes[key] }, call));
  };
  const choose = (options: Extract<Picker, { kind: "choice" }>["options"], index: number): void => {
    const isThere = options[index]?.disabled === false;
    // Arrows go past what can't be chosen.
    const steps = options.slice(0, index).filter(({ disabled }) => !disabled);
    for (const key of isThere
      ? (["Home", ...steps.map(() => "ArrowDown" as const), "Enter"] as const)
      : ["Escape" as const])
      press(key);
  };
  const answer = (picker: Picker, frameId: string, message: AnswerMessage): void => {
    if (picker.kind === "choice" && message.type === "choose") choose(picker.options, message.index);
    if (picker.kind === "value" && message.type === "set_value") {
      press("Escape");
      tell(evaluateApart(cdp, setValue(message.value), { ...call, frameId }));
    }
  };
  const masked = (picker: Picker): Picker =>
    picker.kind === "choice"
      ? {
          ...picker,
          options: picker.options.map((one) => ({ ...one, label: mask(one.label), group: mask(one.group) })),
        }
      : { ...picker, value: mask(picker.value) };

  const find = async (): Promise<{ picker: Picker; frameId: string; site: string } | undefined> => {
    for (const { id: frameId, origin: site } of await framesOf(cdp, call)) {
      const picker = Picker.safeParse(await evaluateApart(cdp, read, { ...call, frameId })).data;
      if (picker) return { picker, frameId, site };
    }
    return undefined;
  };
  const lookNow = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const before = answers;
    // A page that hangs or goes away has no picker.
    const found = await find().catch(() => undefined);
    isLooking = false;
    if (before !== answers) return;
    const is = JSON.stringify(found);
    if (offered && offered.is !== is) {
      offered.close();
      offered = undefined;
    }
    if (!found || offered) return again();
    const { picker, frameId, site } = found;
    const mine = { is, close: (): void => undefined };
    offered = mine;
    const done = (then: () => void): void => {
      if (offered === mine) offered = undefined;
      answers += 1;
      clear();
      then();
    };
    mine.close = asks.put({ ...masked(picker), site } as NewAsk, {
      answer: (message) => done(() => answer(picker, frameId, message)),
      cancel: () => done(() => press("Escape")),
    });
    again();
  };
  const again = (): void => {
    if (offered) timers.push(setTimeout(() => void lookNow(), againMs));
  };
  const clear = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    look() {
      clear();
      timers = looksMs.map((ms) => setTimeout(() => void lookNow(), ms));
    },
    stop: clear,
  };
};
