/**
 * The hosts that a session may reach, while it runs: its holder replaces the list that its browser was made with, or takes
 * it away for good (NETWORK-16 to NETWORK-19). Each change gives another revision. A request that names the revision
 * which it changes is refused when another one came first.
 *
 *   as made (1) ──list──► changed (2, 3, …) ──null──► none, for good
 */
import { z } from "zod";
import { Network } from "../settings/browser-settings.ts";

/** Most bytes of the list as JSON: Redis and the agent keep it with the session. */
const mostBytes = 8192;

const Revision = z.string().regex(/^[1-9][0-9]{0,8}$/);
const MutationId = z.string().min(1).max(128);

/** What is kept of a change. `hosts`: null, there is no list any more. */
export const AllowlistRecord = z.object({
  hosts: z.array(z.string()).nullable(),
  revision: Revision,
  base_revision: Revision.optional(),
  mutation_id: MutationId.optional(),
});
export type AllowlistRecord = z.infer<typeof AllowlistRecord>;

/** `network` in a change of a session. Closed, as in a request for a browser. */
export const NetworkChange = z
  .strictObject({
    allowed_hosts: Network.shape.allowedHosts
      .unwrap()
      .min(1)
      .refine((hosts) => Buffer.byteLength(JSON.stringify(hosts)) <= mostBytes, `at most ${mostBytes} bytes as JSON`)
      .nullable()
      .optional()
      .describe(
        "Replaces the hosts that the browser may reach; null takes the list away for good. Only a list that the browser was made with can be changed. At most 8 KiB as JSON.",
      ),
    expected_allowlist_revision: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        "The network.allowlist_state.revision that this change replaces; another one is 409 stale_network. Together with mutation_id.",
      ),
    mutation_id: MutationId.optional().describe(
      "An id of this change. Repeated with the same revision and list, it is the same change.",
    ),
  })
  .refine(
    ({ expected_allowlist_revision: revision, mutation_id: id }) => (revision === undefined) === (id === undefined),
    { path: ["mutation_id"], message: "give expected_allowlist_revision and mutation_id together, or neither" },
  )
  .refine(({ allowed_hosts: hosts, mutation_id: id }) => hosts !== undefined || id === undefined, {
    path: ["allowed_hosts"],
    message: "is what expected_allowlist_revision and mutation_id guard: give it too",
  });
export type NetworkChange = z.infer<typeof NetworkChange>;

/** In the answer about a session, in camelCase. */
export const AllowlistState = z.object({
  revision: z.string().describe("Opaque; expected_allowlist_revision of a change."),
  baseRevision: z.string().optional().describe("The revision that the last change with a mutation_id replaced."),
  mutationId: z.string().optional().describe("That of the last change, if it had one."),
});

const asMade = "1";

/** The state of a list as answers have it. */
export const allowlistState = (kept: AllowlistRecord | undefined): Omit<AllowlistRecord, "hosts"> => {
  const { hosts: _, ...state } = kept ?? { hosts: null, revision: asMade };
  return state;
};

type Asked = NetworkChange & { allowed_hosts: string[] | null };

/** `given`: the list that the browser was made with. */
type Present = { given: readonly string[] | undefined; kept: AllowlistRecord | undefined };

/** `removed`, `none`: there is no list that could be changed. */
type ChangedAllowlist = { ok: true; record: AllowlistRecord } | { ok: false; why: "stale" | "none" | "removed" };

/** What a change leaves; the same as before for one that is repeated. */
export const changedAllowlist = ({ given, kept }: Present, asked: Asked): ChangedAllowlist => {
  if (!given) return { ok: false, why: "none" };
  const { allowed_hosts: hosts, expected_allowlist_revision: expected, mutation_id } = asked;
  const isRepeated =
    kept?.mutation_id !== undefined && kept.mutation_id === mutation_id && kept.base_revision === expected;
  if (isRepeated && JSON.stringify(kept.hosts) === JSON.stringify(hosts)) return { ok: true, record: kept };
  const present = kept?.revision ?? asMade;
  if (expected !== undefined && expected !== present) return { ok: false, why: "stale" };
  if (kept?.hosts === null && hosts !== null) return { ok: false, why: "removed" };
  const revision = `${Number(present) + 1}`;
  return { ok: true, record: { hosts, revision, ...(mutation_id && { base_revision: present, mutation_id }) } };
};
