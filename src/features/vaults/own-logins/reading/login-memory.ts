/** What a login knows of the past of its page; pure. */
import type { LoginPage } from "./read-login-page.ts";

/** What a login remembers between two looks at its page. */
export type LoginMemory = {
  /** The names of the values that were typed, and of those that the site has refused. */
  typed: Set<string>;
  rejected: Set<string>;
  /** Whether anything was sent, or done by a person. */
  hasActed: boolean;
  hasChosen: boolean;
  /** The provider of single sign-on whose button was pressed last. */
  ssoProvider: string | undefined;
  /** The page when a form was sent last: how it was, and the lines that it had. */
  sent: { signature: string; atMs: number; lines: Set<string> } | undefined;
  /** The names of the values that were typed and not sent yet. */
  unsent: Set<string>;
  /** The page at the last look, and since when it has been so. */
  signature: string;
  sinceMs: number;
  /** The page at which the login began, without query and fragment. */
  startPage: string;
};

/** The address without what changes from call to call. */
export const pageOf = (url: string): string => {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : url;
};

/** The memory of a login that begins. */
export const newMemory = (startUrl: string, nowMs: number): LoginMemory => ({
  typed: new Set(),
  rejected: new Set(),
  hasActed: false,
  hasChosen: false,
  ssoProvider: undefined,
  sent: undefined,
  unsent: new Set(),
  signature: "",
  sinceMs: nowMs,
  startPage: pageOf(startUrl),
});

/**
 * The memory of a login that another replica has driven, by what Redis keeps of it. What was being typed may be there in
 * part, so it counts as not typed; what was sent is not sent again, whatever has become of it.
 */
export const resumedMemory = (
  flow: {
    typed: string[];
    rejected: string[];
    unsent?: string[] | undefined;
    ssoProvider?: string | undefined;
    isTyping: boolean;
  },
  startUrl: string,
  nowMs: number,
): LoginMemory => {
  const unsent = flow.unsent ?? [];
  const typed = flow.typed.filter((ref) => !(flow.isTyping && unsent.includes(ref)));
  const memory = newMemory(startUrl, nowMs);
  const hasActed = flow.typed.length > 0 || flow.ssoProvider !== undefined;
  return {
    ...memory,
    typed: new Set(typed),
    rejected: new Set(flow.rejected),
    unsent: new Set(flow.isTyping ? [] : unsent),
    hasActed,
    ssoProvider: flow.ssoProvider,
    // It is not known what the page looked like.
    sent:
      typed.length > 0 || flow.ssoProvider !== undefined ? { signature: "", atMs: nowMs, lines: new Set() } : undefined,
  };
};

/** Notes that something is done to a page now. `unsent`: the names of the values that are typed, to be sent later. */
export const noteActed = (
  memory: LoginMemory,
  page: LoginPage,
  { nowMs, unsent = [] }: { nowMs: number; unsent?: readonly string[] },
): void => {
  const lines = new Set([...page.refusals, ...page.locks]);
  Object.assign(memory, {
    hasActed: true,
    unsent: new Set(unsent),
    sent: { signature: page.signature, atMs: nowMs, lines },
  });
};
