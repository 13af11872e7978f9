import { describe, expect, test } from "vitest";
import type { SeenFrame } from "../../fill/page-survey.ts";
import { newMemory, noteActed, resumedMemory } from "./login-memory.ts";
import { nextStep, type Step, valueNameOf } from "./next-step.ts";
import { type LoginField, readLoginPage } from "./read-login-page.ts";

type Field = SeenFrame["fields"][number];
type Pressable = SeenFrame["pressables"][number];

const field = (more: Partial<Field>): Field => ({
  selectors: ["x"],
  tag: "input",
  type: "text",
  name: "",
  id: "",
  autocomplete: "",
  inputMode: "",
  label: "",
  maxLength: -1,
  isRequired: false,
  isEmpty: true,
  group: 0,
  ...more,
});
const button = (text: string, more: Partial<Pressable> = {}): Pressable => ({
  kind: "submit",
  text,
  isDisabled: false,
  isChecked: false,
  group: 0,
  ...more,
});
const frame = (more: Partial<SeenFrame>): SeenFrame => ({
  url: "https://shop.example/login",
  origin: "https://shop.example",
  isLoading: false,
  isBusy: false,
  text: "Shop",
  fields: [],
  pressables: [],
  embeds: [],
  ...more,
});
const user = field({ name: "username" });
const password = field({ type: "password", name: "password" });
const isAllowed = (origin: string): boolean => origin === "https://shop.example";
const read = (...frames: SeenFrame[]) => readLoginPage(frames, isAllowed);

const form = frame({ fields: [user, password], pressables: [button("Forgot?", { kind: "link" }), button("Sign in")] });

/** A login whose page is still. `stored`: the names of its values. */
const loginAt = (stored: string[] = ["username", "password"], hasTotp = false, ssoProvider?: string) => {
  const memory = newMemory("https://shop.example/login", 0);
  let nowMs = 0;
  const look = (seen: SeenFrame[], waitMs = 1000): Step => {
    const page = read(...seen);
    const input = {
      memory,
      hasTotp,
      isAllowed,
      isHome: isAllowed,
      ssoProvider,
      page,
      sourceOf: (one: LoginField) =>
        valueNameOf(one, stored) !== undefined || (one.kind === "code" && hasTotp) ? ("stored" as const) : undefined,
    };
    nextStep({ ...input, nowMs });
    nowMs += waitMs;
    return nextStep({ ...input, nowMs });
  };
  return {
    look,
    memory,
    /** As after values were typed into the page, and sent. */
    sent(refs: string[], seen: SeenFrame[]) {
      for (const ref of refs) memory.typed.add(ref);
      noteActed(memory, read(...seen), { nowMs });
    },
  };
};

const kindsOf = (...fields: Field[]) => read(frame({ fields })).form?.fields.map(({ kind, ref }) => `${kind} ${ref}`);

describe("a field", () => {
  // LOGIN-2
  test.each<[string, Field[], string[] | undefined]>([
    ["by its autocomplete", [field({ autocomplete: "section-a username" })], ["identifier username"]],
    ["by its type", [field({ type: "email" }), field({ type: "password" })], ["identifier email", "password password"]],
    [
      "by its label",
      [field({ label: "Benutzername" }), field({ label: "Passwort", type: "password" })],
      ["identifier username", "password password"],
    ],
    [
      "by its place before the password",
      [field({ name: "f1" }), password],
      ["identifier username", "password password"],
    ],
    ["for a code", [field({ label: "6-digit code" })], ["code code"]],
    ["for a code in boxes", Array.from({ length: 6 }, () => field({ maxLength: 1 })), ["code code"]],
    [
      "with a name of its own",
      [field({ name: "tenant" }), user, password],
      ["text tenant", "identifier username", "password password"],
    ],
    ["for a search", [field({ type: "search", name: "q" })], undefined],
    ["for a new password", [field({ type: "password", autocomplete: "new-password" })], undefined],
    ["for a postcode", [field({ name: "zip_code" })], undefined],
  ])("is known %s", (_how, fields, expected) => expect(kindsOf(...fields)).toEqual(expected));

  test("takes the value whose name fits", () => {
    const at = (more: Partial<Field>) => read(frame({ fields: [field(more)] })).form?.fields[0] as LoginField;
    expect(valueNameOf(at({ type: "email" }), ["username", "email"])).toBe("email");
    expect(valueNameOf(at({ name: "user" }), ["email", "login", "user_name"])).toBe("user_name");
    expect(valueNameOf(at({ name: "user" }), ["email"])).toBe("email");
    expect(valueNameOf(at({ type: "password" }), ["note", "pin"])).toBe("pin");
    expect(valueNameOf(at({ type: "password" }), ["note"])).toBeUndefined();
  });
});

describe("the next step", () => {
  test("waits while the page changes, and then types into its form", () => {
    const { look } = loginAt();
    expect(look([form], 100)).toEqual({ do: "wait" });
    expect(look([form])).toMatchObject({ do: "type", fields: [{ ref: "username" }, { ref: "password" }] });
  });

  test("sends by the button that says so", () => {
    const { look, memory } = loginAt();
    memory.typed.add("username").add("password");
    memory.unsent.add("password");
    const filled = { ...form, fields: form.fields.map((one) => ({ ...one, isEmpty: false })) };
    expect(look([filled])).toMatchObject({ do: "send", form: { send: { text: "Sign in" } } });
  });

  // LOGIN-5
  test("asks for what is missing, and for a password that was refused", () => {
    expect(loginAt(["username"]).look([form])).toMatchObject({
      do: "ask",
      fields: [{ ref: "password", reason: "missing" }],
    });
    const login = loginAt();
    login.sent(["username", "password"], [form]);
    const again = { ...form, text: "Shop\nIncorrect password" };
    expect(login.look([again])).toMatchObject({
      do: "ask",
      fields: [
        { ref: "username", isOptional: true },
        { ref: "password", reason: "rejected" },
      ],
    });
  });

  test("waits for a site that thinks", () => {
    const login = loginAt();
    login.sent(["username", "password"], [form]);
    const busy = {
      ...form,
      fields: form.fields.map((one) => ({ ...one, isEmpty: false })),
      pressables: [button("Sign in", { isDisabled: true })],
    };
    expect(login.look([busy])).toEqual({ do: "wait" });
    expect(login.look([{ ...busy, isBusy: true }], 5000)).toEqual({ do: "wait" });
  });

  // LOGIN-8
  test("types nothing into a form at a foreign origin, unless there is one that is allowed", () => {
    const foreign = { ...form, origin: "https://evil.example" };
    expect(loginAt().look([frame({}), foreign])).toEqual({
      do: "fail",
      code: "origin_not_allowed",
      origin: "https://evil.example",
    });
    expect(loginAt().look([form, foreign])).toMatchObject({ do: "type", form: { origin: "https://shop.example" } });
  });

  test("is done inside, and not at a page that only changes its address to refuse", () => {
    expect(loginAt().look([frame({ pressables: [button("Sign out", { kind: "link" })] })])).toEqual({ do: "done" });
    const login = loginAt();
    login.sent(["password"], [form]);
    expect(login.look([frame({ url: "https://shop.example/error", text: "Something is wrong" })], 5000)).toEqual({
      do: "wait",
    });
    expect(login.look([frame({ url: "https://shop.example/orders", text: "Your orders" })], 2000)).toEqual({
      do: "done",
    });
  });

  test("does not take an address for letters of news for a login", () => {
    const news = frame({ fields: [field({ type: "email" })], pressables: [button("Subscribe")] });
    expect(read(news).form).toBeUndefined();
  });

  // LOGIN-6
  test("chooses the authenticator app where its secret is stored, else asks", () => {
    const page = frame({
      text: "Verify it is you",
      pressables: [button("Text message to 42"), button("Authenticator app")],
    });
    expect(loginAt([], true).look([page])).toMatchObject({ do: "press", what: { text: "Authenticator app" } });
    expect(loginAt().look([page])).toMatchObject({ do: "ask", choices: [{ type: "sms" }, { type: "totp" }] });
  });

  // LOGIN-7, LOGIN-9
  test("leaves captchas, approvals and unknown pages to a person, and ends at a lock", () => {
    const captcha = frame({
      embeds: [{ what: "https://www.google.com/recaptcha/api2/anchor", width: 304, height: 78 }],
    });
    expect(loginAt().look([captcha])).toEqual({ do: "person", why: "captcha" });
    expect(loginAt().look([{ ...captcha, embeds: [{ what: "recaptcha badge", width: 60, height: 30 }] }])).toEqual({
      do: "wait",
    });
    expect(loginAt().look([frame({ text: "Check your phone to approve" })])).toEqual({ do: "person", why: "push" });
    expect(loginAt().look([frame({})], 11_000)).toEqual({ do: "person", why: "unknown" });
    expect(loginAt().look([frame({ text: "Your account has been locked" })])).toEqual({
      do: "fail",
      code: "account_locked",
    });
  });
});

describe("a login of another replica", () => {
  const filled = { ...form, fields: form.fields.map((one) => ({ ...one, isEmpty: false })) };
  const both = ["username", "password"];
  /** The step at a page that has been still for a second, and after `waitMs`. */
  const resumed = (
    flow: Omit<Parameters<typeof resumedMemory>[0], "rejected">,
    seen: SeenFrame,
    waitMs = 1000,
  ): Step => {
    const memory = resumedMemory({ rejected: [], ...flow }, "https://shop.example/login", 0);
    const input = {
      memory,
      hasTotp: false,
      isAllowed,
      isHome: isAllowed,
      ssoProvider: undefined,
      page: read(seen),
      sourceOf: () => "stored" as const,
    };
    nextStep({ ...input, nowMs: 0 });
    return nextStep({ ...input, nowMs: waitMs });
  };

  // LOGIN-21
  test("types again what was being typed, sends what was typed, and never sends again what was sent", () => {
    expect(resumed({ typed: both, unsent: both, isTyping: true }, filled)).toMatchObject({
      do: "type",
      fields: [{}, {}],
    });
    expect(resumed({ typed: both, unsent: both, isTyping: false }, filled)).toMatchObject({ do: "send" });
    expect(resumed({ typed: both, isTyping: true }, filled)).toEqual({ do: "wait" });
    expect(resumed({ typed: both, isTyping: true }, filled, 11_000)).toMatchObject({
      do: "ask",
      fields: [{ isOptional: true }, { ref: "password", reason: "rejected" }],
    });
    expect(resumed({ typed: both, isTyping: true }, form)).toMatchObject({ do: "ask" });
  });
});

describe("single sign-on", () => {
  const google = button("Continue with Google", { kind: "button" });
  const only = frame({ pressables: [google, button("Continue with Acme ID", { kind: "button" })] });
  const beside = { ...form, pressables: [...form.pressables, google] };

  // LOGIN-22
  test("is asked for where it is the only way, or beside values that are missing", () => {
    expect(loginAt().look([only])).toMatchObject({
      do: "ask",
      choices: [{ provider: "google" }, { provider: "acme-id" }],
    });
    expect(loginAt([]).look([beside])).toMatchObject({
      do: "ask",
      fields: [{}, {}],
      choices: [{ provider: "google" }],
    });
    expect(loginAt().look([beside])).toMatchObject({ do: "type", form: { send: { text: "Sign in" } } });
    expect(loginAt().look([{ ...only, origin: "https://evil.example" }])).toEqual({ do: "wait" });
  });

  // LOGIN-22
  test("of the stored login is gone to once, before its form is used", () => {
    const login = loginAt(undefined, false, "Google");
    expect(login.look([beside])).toMatchObject({ do: "sso", what: { provider: "google" } });
    login.memory.ssoProvider = "google";
    login.sent([], [beside]);
    expect(login.look([beside])).toEqual({ do: "wait" });
  });

  // LOGIN-23
  test("a provider's password is not typed into the site's own form, but the user's name is", () => {
    const login = loginAt(undefined, false, "google");
    expect(login.look([form])).toMatchObject({ do: "ask", fields: [{ ref: "password", reason: "missing" }] });
    expect(login.look([frame({ fields: [user], pressables: [button("Next")] })])).toMatchObject({
      do: "type",
      fields: [{ ref: "username" }],
    });
  });

  // LOGIN-23
  test("the inside of the provider is not that of the site", () => {
    const login = loginAt();
    login.memory.ssoProvider = "google";
    login.sent(["password"], [only]);
    const there = { url: "https://idp.example/consent", origin: "https://idp.example" };
    const consent = frame({
      ...there,
      text: "Allow Shop to see your name",
      pressables: [button("Sign out", { kind: "link" })],
    });
    expect(login.look([consent], 5000)).toEqual({ do: "wait" });
    expect(login.look([consent], 11_000)).toEqual({ do: "person", why: "unknown" });
    expect(login.look([frame({ url: "https://shop.example/home", text: "Hello" })], 2000)).toEqual({ do: "done" });
  });
});
