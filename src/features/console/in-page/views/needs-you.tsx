/** What does not go on without a person, with what to do. */

import type { ProxyAnswer } from "../../../proxies/proxy-wire.ts";
import type { TelemetryDestinationAnswer } from "../../../telemetry/destinations/telemetry-destination.ts";
import type { ConnectionAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import type { ItemAnswer, VaultAnswer } from "../../../vaults/vault.ts";
import { Problem } from "../parts/notice.tsx";
import { proxyName } from "../parts/proxy-words.tsx";
import { Reading } from "../parts/reading.tsx";
import { State, type Tone } from "../parts/state.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { to } from "../router.ts";
import { inPath, readList } from "../service/api.ts";
import { link, pools } from "../service/live.ts";
import { itemStand, loginName, loginStand } from "../service/login-state.ts";
import { poolName, poolState } from "../service/pool-state.ts";
import { may } from "../service/session.ts";
import { type Fetched, useFetched } from "../service/use-fetched.ts";
import { useFresh } from "../service/use-fresh.ts";

/** `why` and `todo`: sentences. */
type Need = { tone: Tone; word: string; name: string; address: string; why: string; todo: string };

const refusedPools = (): Need[] => {
  pools.version.value;
  return [...pools.byId.values()].flatMap((pool) => {
    const { tone, word, why } = poolState(pool);
    if (tone !== "bad") return [];
    const todo = "Change the pool, or the limit that it breaks.";
    return [
      { tone, word: `Pool: ${word.toLowerCase()}`, name: poolName(pool), address: to(["pools", pool.id]), why, todo },
    ];
  });
};

const needsOfLogins = async (signal: AbortSignal): Promise<Need[]> => {
  const [logins, credentials] = await Promise.all([
    readList<ConnectionAnswer>("/auth/connections", {}, signal),
    readList<CredentialAnswer>("/credentials", {}, signal),
  ]);
  return logins.flatMap((login) => {
    const { tone, word, why, todo } = loginStand(login, credentials);
    if (tone !== "warn" && tone !== "bad") return [];
    return [
      {
        tone,
        word: `Login: ${word.toLowerCase()}`,
        name: loginName(login),
        address: to(["logins", login.id]),
        why,
        todo,
      },
    ];
  });
};

/** Vaults whose items are looked at: each is a request. */
const mostVaults = 100;

/** How often they are, ms, as the state of an item also changes with other objects. */
const itemsEveryMs = 60_000;

const needsOfItems = async (signal: AbortSignal): Promise<Need[]> => {
  const vaults = (await readList<VaultAnswer>("/vaults", {}, signal)).slice(0, mostVaults);
  const found: Need[] = [];
  for (const { id, name } of vaults)
    for (const item of await readList<ItemAnswer>(`/vaults/${inPath(id)}/items`, {}, signal)) {
      const { tone, word, why, todo } = itemStand(item);
      if (tone === "good") continue;
      const address = to(["vaults", id, "items", item.key]);
      found.push({
        tone,
        word: `Item: ${word.toLowerCase()}`,
        name: `${item.key} in ${name ?? id}`,
        address,
        why,
        todo,
      });
    }
  return found;
};

const needsOfProxies = async (signal: AbortSignal): Promise<Need[]> =>
  (await readList<ProxyAnswer>("/proxies", {}, signal))
    .filter(({ status }) => status === "unavailable")
    .map((proxy) => ({
      ...{ tone: "bad", word: "Proxy: does not answer", name: proxyName(proxy), address: to(["proxies", proxy.id]) },
      why: "The last check reached nothing through it.",
      todo: "Look whether it runs, and whether its login is right; then check it again.",
    }));

const needsOfDestinations = async (signal: AbortSignal): Promise<Need[]> =>
  (await readList<TelemetryDestinationAnswer>("/telemetry/destinations", {}, signal))
    .filter(({ consecutive_failures: failures }) => failures > 0)
    .map(({ id, name, last_error = "no reason is known" }) => ({
      ...{ tone: "bad", word: "Telemetry: not taken", name, address: to(["telemetry", id]) },
      why: `The receiver takes nothing: ${last_error}.`,
      todo: "Look whether it runs at its endpoint, and whether its headers are right.",
    }));

const none = async (): Promise<Need[]> => [];

/** All that is read: each is read alone, so that one that can't be read hides nothing of the others. */
const useNeeds = (): Fetched<Need[]>[] => {
  const vaults = may("vaults:read");
  const building = may("pools:read");
  return [
    useFresh("needs of logins", vaults ? needsOfLogins : none, "auth_connection"),
    useFetched("needs of items", vaults ? needsOfItems : none, { kind: "vault_item", everyMs: itemsEveryMs }),
    useFresh("needs of proxies", building ? needsOfProxies : none, "proxy"),
    useFresh("needs of destinations", building ? needsOfDestinations : none, "telemetry_destination"),
  ];
};

const List = ({ needs }: { needs: readonly Need[] }) => (
  <ul class="needs">
    {needs.map(({ tone, word, name, address, why, todo }) => (
      <li key={address}>
        <p>
          <State tone={tone}>{word}</State>{" "}
          <a href={address}>
            <Text of={name} />
          </a>
        </p>
        <p class="muted wrap">
          <bdi>{plainText(why)}</bdi> {todo}
        </p>
      </li>
    ))}
  </ul>
);

const isReading = (fetched: Fetched<unknown>): boolean => fetched.data === undefined && fetched.error === undefined;

/** What needs a person. */
export const View = () => {
  const read = useNeeds();
  const needs = [...refusedPools(), ...read.flatMap(({ data = [] }) => data)];
  const failed = read.find(({ error }) => error !== undefined);
  const arePoolsKnown = !may("pools:read") || link.value.state === "live";
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Needs you</h1>
      </div>
      {failed && <Problem error={failed.error} />}
      {needs.length > 0 ? (
        <List needs={needs} />
      ) : read.some(isReading) ? (
        <Reading />
      ) : (
        !failed && (
          <div class="empty">
            <p>
              <b>Nothing needs you.</b>
            </p>
            {!arePoolsKnown && <p class="muted">Pools are not known yet.</p>}
          </div>
        )
      )}
    </>
  );
};
