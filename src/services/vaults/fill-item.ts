/**
 * Types values of an item into fields of a page (FILL-1).
 *
 *   vault, item ──► browser, vault attached? ──► item ready? ──► values read ──► fields known? ──► fillPage ──► audit event
 *
 * A failure before the first write ends in an error; after it, the caller always gets an answer. Each fill adds an event: the API
 * key, the browser, the page's origin and the outcome, but nothing of the typed values.
 */
import type { Login } from "../../domain/change-login.ts";
import { totpField } from "../../domain/item-state.ts";
import { totpCode } from "../../domain/totp.ts";
import { AppError, type ErrorCode } from "../../errors.ts";
import { fillPage } from "../../fill/fill-page.ts";
import { type Binding, FillRefused, type FillResult } from "../../fill/fill-result.ts";
import type { FillAnswer, FillItem } from "../../resources/fill-wire.ts";
import type { VaultItem } from "../../resources/vault-item.ts";
import { Sensitive } from "../../sensitive.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { attachedBrowser } from "./attached-browser.ts";
import { fetchItem, type ItemPath } from "./fetch-item.ts";
import { noteItemEvent } from "./item-event.ts";
import { openItem } from "./open-item.ts";

type FillInput = { path: ItemPath; request: FillItem; project: Project; principal: Principal };

/** Time after which a caller may try a busy browser again, s. */
const busySeconds = 1;

/**
 * Returns a function that gives the value of a field, or undefined when the item has none. A TOTP code is made only when it is
 * written. A secret that is no base32, which YAML can store, gives no code.
 */
const sourceOf = ({ values, totpSecret }: Login, field: string): (() => Sensitive) | undefined => {
  const code = (): Sensitive | undefined => {
    const made = totpSecret && totpCode(totpSecret.reveal(), Date.now());
    return made && new Sensitive(made.code);
  };
  if (field === totpField && code()) return () => code() ?? new Sensitive("");
  const value = values.get(field);
  return value && (() => value);
};

/** `known`: the names in the item's `state.fields`. */
const bindingsOf = (item: VaultItem, { fields }: FillItem, known: Record<string, unknown>, login: Login): Binding[] => {
  const sources = fields.map(({ field }) => (Object.hasOwn(known, field) ? sourceOf(login, field) : undefined));
  const details = sources.flatMap((value, index) => {
    const message = `item ${item.spec.key} has no such value`;
    return value ? [] : [{ code: "field_unavailable", path: `fields[${index}].field`, message }];
  });
  if (details.length > 0)
    throw new AppError("field_unavailable", details.map(({ path, message }) => `${path}: ${message}`).join("; "), {
      details,
    });
  return fields.flatMap(({ selector }, index) => {
    const value = sources[index];
    return value ? [{ selector, value }] : [];
  });
};

const openBindings = async (
  item: VaultItem,
  { request, project }: FillInput,
  deps: ServiceDeps,
): Promise<{ bindings: Binding[]; allowedOrigins: string[] | undefined }> => {
  const { state, ...open } = await openItem(item, project, deps);
  if (state.status === "unavailable" || !("login" in open))
    throw new AppError(
      "item_unavailable",
      `item ${item.spec.key} can't be used now: ${state.status === "unavailable" ? state.reason : ""}`,
    );
  return { bindings: bindingsOf(item, request, state.fields, open.login), allowedOrigins: open.allowedOrigins };
};

const asAppError = (error: unknown): unknown => {
  if (!(error instanceof FillRefused)) return error;
  const code: ErrorCode = error.code;
  const isBusy = code === "browser_not_ready" || code === "fill_in_progress";
  return new AppError(code, error.message, isBusy ? { retryAfterSeconds: busySeconds } : {});
};

const outcomeOf = (error: unknown): string => (error instanceof FillRefused ? error.code : "refused");

/** Fills the fields. Throws for a failure before the first write (FILL-2 to FILL-26); then nothing was written. */
export const fillItem = async (input: FillInput, deps: ServiceDeps, signal: AbortSignal): Promise<FillAnswer> => {
  const { path, request, project, principal } = input;
  const { vault, item } = await fetchItem(path, project, deps);
  const [connect, { bindings, allowedOrigins }] = await Promise.all([
    attachedBrowser(request.browser_id, { vault, project }, deps),
    openBindings(item, input, deps),
  ]);
  const event = { type: "fill" as const, principal, browser_id: request.browser_id };
  try {
    const { origin, status, fields }: FillResult = await fillPage(
      {
        connect,
        pageUrl: request.page_url,
        timeoutMs: request.timeout_ms,
        bindings,
        allowedOrigins,
      },
      signal,
    );
    await noteItemEvent(item, { ...event, origin, outcome: status }, deps);
    return { type: "fill", status, fields };
  } catch (error) {
    await noteItemEvent(item, { ...event, outcome: outcomeOf(error) }, deps);
    throw asAppError(error);
  }
};
