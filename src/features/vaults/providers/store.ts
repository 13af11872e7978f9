/** What every kind of store does for logins, and what bounds it. */
import { doubling, type RetryOptions } from "../../../platform/base/retry.ts";
import type { Login } from "../connections/rules/change-login.ts";
import type { ProviderItem } from "./provider.ts";

/** Why a provider gives no login: it does not answer, does not let in, has no such item, or one that can't be typed. */
export type ProviderProblem =
  | "credential_provider_unavailable"
  | "credential_provider_refused"
  | "external_credential_not_found"
  | "external_credential_unusable";

/** A provider gives no login. The message is for people, and has nothing of what the store holds. */
export class ProviderFailed extends Error {
  readonly code: ProviderProblem;
  constructor(code: ProviderProblem, message: string) {
    super(message);
    this.code = code;
  }
}

/** An item as it is now, with its login. */
export type StoredItem = { item: ProviderItem; login: Login };

/** Reads a store by the rights of a provider's token. Each throws `ProviderFailed`. */
export type Store = {
  /** What `test` and items call the place in which it reads. */
  place: string;
  /** All items, without values; fails for a store of too many. */
  list(): Promise<ProviderItem[]>;
  /** The item of a path. It must be among those that a list has. */
  read(path: string): Promise<StoredItem>;
  /** Whether the store can be listed. */
  tryList(): Promise<void>;
};

/** Deadline of one read, ms. */
export const readMs = 5000;

/** Tries of a read that gets no answer. */
export const readTries = { tries: 3, withinMs: 12_000, pauseMs: doubling(300) } satisfies Partial<RetryOptions>;

/** For a whole list, ms, and characters of its items, which are kept in memory. */
const listMs = 60_000;
const mostListLength = 8 * 1024 * 1024;

/** The items of a list that is being read, within its bounds. */
type GrowingList = {
  items: ProviderItem[];
  /** Throws `ProviderFailed` when the list is too long, or takes too long. */
  add(items: readonly ProviderItem[]): void;
};

/** Begins a list. */
export const growingList = (): GrowingList => {
  const untilMs = performance.now() + listMs;
  const items: ProviderItem[] = [];
  let length = 0;
  return {
    items,
    add(more) {
      items.push(...more);
      length += JSON.stringify(more).length;
      if (length > mostListLength)
        throw new ProviderFailed("credential_provider_unavailable", "the addresses of the items are too long");
      if (performance.now() > untilMs)
        throw new ProviderFailed("credential_provider_unavailable", "the store takes too long to list");
    },
  };
};
