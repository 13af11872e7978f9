import type { Identity } from "../../core/api/announced.ts";
import { type AnyLease, requestOf } from "../../core/leases/records.ts";
import { listedSessionAnswer, type SessionAnswerDeps } from "../../core/sessions/session-answer.ts";
import type { Kube } from "../../platform/kube/client.ts";

/** What the objects of events are made of. */
export type DescribeDeps = SessionAnswerDeps & { kube: Kube };

/** A lease as a session's events show it: as lists do, without URLs. */
export const sessionObject = (lease: AnyLease, deps: SessionAnswerDeps): ReturnType<typeof listedSessionAnswer> =>
  listedSessionAnswer(lease, undefined, deps);

/** What an event says of a lease besides its object. */
export const sessionIdentity = (lease: AnyLease): Identity & { kind: "session" } => {
  const { name } = requestOf(lease);
  return { kind: "session", id: lease.session, ...(name !== undefined && { name }) };
};
