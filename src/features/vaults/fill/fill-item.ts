/**
 * Types values of an item into fields of a page (FILL-1). The steps are one after the other, in the order that callers
 * are promised (FILL-43), whichever would be faster; the first that fails makes the answer:
 *
 *   vault, item ──► browser ──► vault attached? ──► values read, item ready? ──► fields known? ──► fillPage ──► event
 *
 * No value is read before the vault is known to be attached. A failure before the first write ends in an error; after
 * it, the caller always gets an answer. Each fill of an item adds an event, also a refused one: the API key, the
 * browser, the page's origin and the outcome, but nothing of the typed values.
 */

import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import { isHeldAtAgent } from "../../../core/leases/agent/agent-call.ts";
import type { AgentClient } from "../../../core/leases/agent/agent-client.ts";
import type { SetupClient } from "../../../core/leases/agent/setup-client.ts";
import type { AnyLease } from "../../../core/leases/records.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { AgentKeys } from "../../../core/protocol/agent-key.ts";
import type { AgentTokens } from "../../../core/protocol/agent-token.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { awaitWith } from "../../../platform/base/retry.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { Login } from "../connections/rules/change-login.ts";
import { totpField } from "../credentials/credential.ts";
import { type ItemEvents, noteItemEvent } from "../items/item-events.ts";
import { fetchItem, type ItemPath } from "../items/items.ts";
import { openItem, type ReadyItem } from "../items/open-item.ts";
import type { VaultItem } from "../items/vault-item.ts";
import { totpCode, totpPeriodMs } from "../logins/rules/totp.ts";
import type { Vault } from "../vault.ts";
import { devToolsOf, fetchBrowser, requireAttached } from "./attached-browser.ts";
import { type FillRequest, fillPage } from "./fill-page.ts";
import { type Binding, FillRefused } from "./fill-result.ts";
import { busySeconds, type FillTime, fillTime } from "./fill-time.ts";
import type { FillAnswer, FillItem } from "./fill-wire.ts";
import { noteRefusedFill } from "./note-refused-fill.ts";

/**
 * Returns a function that gives the value of a field, or undefined when the item has none. A TOTP code is made only
 * when it is written.
 */
const sourceOf = ({ values, totpSecret }: Login, field: string): (() => Sensitive) | undefined => {
  if (field === totpField && totpSecret)
    return () => new Sensitive(totpCode(totpSecret.reveal(), Date.now())?.code ?? "");
  const value = values.get(field);
  return value && (() => value);
};

/**
 * The selectors of a request with the values of an item. Throws `field_unavailable` for fields that are not in
 * `state.fields`.
 */
const bindingsOf = (item: VaultItem, { fields }: FillItem, { state, login }: ReadyItem): Binding[] => {
  const sources = fields.map(({ field }) => (Object.hasOwn(state.fields, field) ? sourceOf(login, field) : undefined));
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

const valuesOf = ({ fields }: FillItem, { login }: ReadyItem): string[] => {
  const { values, totpSecret } = login;
  const typed = fields.flatMap(({ field }) => values.get(field)?.reveal() ?? []);
  if (!totpSecret || !fields.some(({ field }) => field === totpField)) return typed;
  // The code is made when it is written, which may be in the next period.
  const codes = [0, totpPeriodMs].flatMap((ms) => totpCode(totpSecret.reveal(), Date.now() + ms)?.code ?? []);
  return [...typed, ...codes];
};

/**
 * Has the agent keep what is about to be typed out of all telemetry (TELEMETRY-17). Throws `browser_not_ready` unless
 * it says so for this very lease, whatever else it answers: then nothing may be typed.
 */
export const maskValues = async (
  lease: AnyLease,
  values: string[],
  { setupClient }: { setupClient: SetupClient },
): Promise<void> => {
  const { session: session_id, epoch, seq } = lease;
  const answer = await setupClient.sendMasks(lease, { session_id, epoch, seq, values });
  if (answer.kind !== "ok" || !isHeldAtAgent(lease, answer.state)) throw new FillRefused("browser_not_ready");
};

/** The same for what a request is about to type. */
export const maskFill = (
  lease: AnyLease,
  request: FillItem,
  open: ReadyItem,
  deps: { setupClient: SetupClient },
): Promise<void> => maskValues(lease, valuesOf(request, open), deps);

/** `arrivedAtMs`: when the request arrived, by `performance.now()`. */
type FillInput = {
  path: ItemPath;
  request: FillItem;
  project: Project;
  principal: Principal;
  arrivedAtMs: number;
};

/**
 * How long an answer waits for its event at least, ms: it is usually kept in one, also when the time of the fill is
 * over.
 */
const eventMs = 250;

const openReady = async (
  item: VaultItem,
  project: Project,
  deps: { kube: Kube; secretsKeys: SecretsKeys },
): Promise<ReadyItem> => {
  const open = await openItem(item, project, deps);
  if ("login" in open) return open;
  throw new AppError("item_unavailable", `item ${item.spec.key} can't be used now: ${open.state.reason}`);
};

/** `onBrowser`: called as soon as the browser is known to be one of the project. */
const prepare = async (
  { vault, item }: { vault: Vault; item: VaultItem },
  { request, project }: FillInput,
  {
    time,
    deps,
    onBrowser,
  }: {
    time: FillTime;
    deps: FindSessionDeps & {
      agentKeys: AgentKeys;
      agentTokens: AgentTokens;
      agents: AgentClient;
      log: Logger;
      secretsKeys: SecretsKeys;
      setupClient: SetupClient;
    };
    onBrowser: () => void;
  },
): Promise<FillRequest> => {
  const lease = await time.until(fetchBrowser(request.browser_id, project, deps), "service");
  onBrowser();
  requireAttached(vault, lease);
  const open = await time.until(openReady(item, project, deps), "service");
  const bindings = bindingsOf(item, request, open);
  await time.until(maskFill(lease, request, open, deps), "browser");
  const connect = await time.until(devToolsOf(lease, deps), "browser");
  const { allowedOrigins } = open;
  return { connect, pageUrl: request.page_url, timeoutMs: time.leftMs(), bindings, allowedOrigins };
};

const asAnswered = (error: unknown, time: FillTime): unknown => {
  if (!(error instanceof FillRefused)) return error;
  if (error.isLate) return time.late("browser");
  const isBusy = error.code === "browser_not_ready" || error.code === "fill_in_progress";
  return new AppError(error.code, error.message, isBusy ? { retryAfterSeconds: busySeconds } : {});
};

/**
 * Fills the fields. Throws for a failure before the first write (FILL-2 to FILL-26, FILL-45); then nothing was written.
 */
export const fillItem = async (
  input: FillInput,
  deps: FindSessionDeps & {
    agentKeys: AgentKeys;
    agentTokens: AgentTokens;
    agents: AgentClient;
    apiKeys: ApiKeys;
    itemEvents: ItemEvents;
    log: Logger;
    secretsKeys: SecretsKeys;
    setupClient: SetupClient;
  },
  signal: AbortSignal,
): Promise<FillAnswer> => {
  const { path, request, project, principal, arrivedAtMs } = input;
  const time = fillTime({ arrivedAtMs, timeoutMs: request.timeout_ms }, signal);
  if (time.leftMs() === 0) {
    await noteRefusedFill({ path, project, principal, code: "browser_not_ready" }, deps);
    throw time.late("request");
  }
  const { vault, item } = await time.until(fetchItem(path, project, deps), "service");
  let browser_id: string | undefined;
  const onBrowser = (): void => {
    browser_id = request.browser_id;
  };
  const note = async (what: { outcome: string; origin?: string }): Promise<void> => {
    const noted = noteItemEvent(item, { type: "fill", principal, ...(browser_id && { browser_id }), ...what }, deps);
    await awaitWith(noted, AbortSignal.timeout(Math.ceil(Math.max(time.leftMs(), eventMs)))).catch(() => undefined);
  };
  try {
    const wanted = await prepare({ vault, item }, input, { time, deps, onBrowser });
    const { origin, status, fields } = await fillPage(wanted, signal);
    await note({ origin, outcome: status });
    return { type: "fill", status, fields };
  } catch (error) {
    const answered = asAnswered(error, time);
    await note({ outcome: answered instanceof AppError ? answered.code : "internal_error" });
    throw answered;
  }
};
