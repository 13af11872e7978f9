/** Mistakes in the controllers, in the client of the Kubernetes API, and in the config registry. */
import type { Mutation } from "../mutation.ts";

export const controllersMistakes: readonly Mutation[] = [
  // The client of the Kubernetes API, its watches and queues.
  {
    name: "leader-renews-another-replicas-lease",
    kind: "missing check",
    breaks: "an operator that finds the lease with another replica counts that as its own renewal: two operators lead",
    file: "kube/leader-election.ts",
    find: `      if (owner === "another's") lose();\n      if (owner === "unknown" || until.aborted) continue;`,
    replace: `      if (owner === "unknown" || until.aborted) continue;`,
  },
  {
    name: "waiting-replica-frees-the-leaders-lease",
    kind: "missing check",
    breaks:
      "a replica that only waits takes the lease away from the leader when it stops: two operators lead for a while",
    file: "kube/leader-election.ts",
    find: "if (known?.spec?.holderIdentity !== identity) return;",
    replace: "if (!known) return;",
  },
  {
    name: "key-added-during-work-is-lost",
    kind: "wrong order",
    breaks: "a change that comes while its object is worked on gets no round of its own, and stays unseen",
    file: "kube/work-queue.ts",
    find: "      active.delete(key);\n      leave();\n      if (again.delete(key)) add(key);",
    replace: "      if (again.delete(key)) add(key);\n      active.delete(key);\n      leave();",
  },
  {
    name: "back-off-outlives-success",
    kind: "forgotten clean-up",
    breaks: "an object whose work has failed ten times in its life waits half a minute after each later failure",
    file: "kube/work-queue.ts",
    find: "      failures.delete(key);\n",
    replace: "",
  },
  {
    name: "full-lane-blocks-the-others",
    kind: "other",
    breaks:
      "while one lane is full, keys of the lanes behind it wait too: dead newcomers delay steps that callers wait for",
    file: "kube/waiting-keys.ts",
    find: "if (lane.active >= lane.limit) break;",
    replace: "if (lane.active >= lane.limit) return;",
  },
  {
    name: "first-pod-settles-all-expectations",
    kind: "lost update",
    breaks: "when one new pod is shown, the others of its pool count as never created, and are created once more",
    file: "kube/expectations.ts",
    find: "creationObserved: (owner, name) => void byOwner.get(owner)?.delete(name),",
    replace: "creationObserved: (owner) => void byOwner.delete(owner),",
  },
  {
    name: "old-list-removes-new-objects",
    kind: "stale input",
    breaks: "a list that was made before an object drops that object from the copy: its lease is closed as lost",
    file: "kube/reflector.ts",
    find:
      "      const isNewer = Number(object.metadata.resourceVersion) > Number(resourceVersion);\n" +
      "      if (!listed.has(keyOf(object.metadata)) && !isNewer) remove(object, resourceVersion);",
    replace: "      if (!listed.has(keyOf(object.metadata))) remove(object, resourceVersion);",
  },
  {
    name: "request-body-in-errors",
    kind: "secret in a log line",
    breaks:
      "when a proxy answers instead of the API server, the error that is logged has the body, such as an agent's key",
    file: "kube/calls.ts",
    find: `\${request.path} was answered with`,
    replace: `\${request.path} with \${JSON.stringify(request.body)} was answered with`,
  },
  {
    name: "deletion-by-name-alone",
    kind: "name instead of id",
    breaks: "a deletion that was decided for an object that is gone hits the new object of the same name",
    file: "kube/client.ts",
    find: "        ...(uid && { preconditions: { uid } }),\n",
    replace: "",
  },
  {
    name: "grace-period-of-zero-is-left-out",
    kind: "wrong default",
    breaks: "the pods of a node that is gone wait for their own grace of minutes, and are not replaced until then",
    file: "kube/client.ts",
    find: "...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),",
    replace: "...(gracePeriodSeconds && { gracePeriodSeconds }),",
  },
  {
    name: "dead-watch-is-not-noticed",
    kind: "missing signal",
    breaks: "a watch whose connection died silently is waited for without end: the operator sees no change any more",
    file: "kube/watch.ts",
    find: "AbortSignal.any([signal, silence.signal])",
    replace: "signal",
  },
  {
    name: "throttling-counts-as-final",
    kind: "wrong status code",
    breaks: "an API server that throttles is not asked again where a repetition cures, and a conflict is, without end",
    file: "kube/kube-error.ts",
    find: "error.status === 429",
    replace: "error.status === 409",
  },

  // The config registry.
  {
    name: "newest-runs-are-forgotten",
    kind: "lost update",
    breaks: "an object of evidence that remembers enough runs takes no new ones: a repeated write counts a run twice",
    file: "registry/evidence-store.ts",
    find: "runs.slice(-maxRememberedRuns)",
    replace: "runs.slice(0, maxRememberedRuns)",
  },
  {
    name: "import-drops-own-trials",
    kind: "inverted condition",
    breaks: "an installation that imports its own backup loses all that its own trials and sessions have found",
    file: "registry/transfer.ts",
    find: `each.origin !== origin || each.source !== "given"`,
    replace: `each.origin !== origin && each.source !== "given"`,
  },
  {
    name: "text-of-the-page-before",
    kind: "stale input",
    breaks: "a page that can't be read is judged by the text of the challenge or redirect before it",
    file: "registry/visit/visit-page.ts",
    find: "    run.seen.page = noPage;\n",
    replace: "",
  },
  {
    name: "robots-with-an-error-of-the-server",
    kind: "limit on the wrong side",
    breaks: "a site whose robots.txt is answered with 500 is visited, though it could not say whether it wants that",
    file: "registry/visit/ask-robots.ts",
    find: "if (status >= 500) return",
    replace: "if (status > 500) return",
  },
  {
    name: "robots-groups-run-together",
    kind: "other",
    breaks: "rules that a site gives to other robots are added to ours: we visit what it forbids us, or stay away",
    file: "registry/visit/robots.ts",
    find: "    isNaming = false;\n    // An empty rule",
    replace: "    // An empty rule",
  },
  {
    name: "visit-waits-beyond-its-end",
    kind: "missing signal",
    breaks: "a visit of a page that never gets a document goes on after its time: its analysis and browser hang",
    file: "registry/visit/until.ts",
    find: `    over.addEventListener("abort", abort);\n    try {\n      return await done.promise;`,
    replace: "    try {\n      return await done.promise;",
  },
  {
    name: "frames-of-the-page-before",
    kind: "forgotten clean-up",
    breaks: "a page behind a passed challenge is judged blocked, by the frame of the challenge that is gone",
    file: "registry/visit/watch-page.ts",
    find: "    watch.frames.clear();\n",
    replace: "",
  },
  {
    name: "private-end-is-the-sites-own",
    kind: "inverted condition",
    breaks: "a visit that a site led to a private address or to no site counts as one that ended on the site",
    file: "registry/judge/judge.ts",
    find: `typeof found === "string" || found.domain !== domain`,
    replace: `typeof found !== "string" && found.domain !== domain`,
  },

  // The pool loop.
  {
    name: "status-after-the-starts",
    kind: "wrong order",
    breaks:
      "an operator that dies after it has created a pod leaves no time of the next start: the fill rate is exceeded",
    file: "controllers/browser-pool/apply/apply.ts",
    find:
      "  if (!drops) await writeStatus(observed, plan.status, deps);\n" +
      "  for (const action of plan.actions.filter(isLast)) await carryOut(action, observed, deps);",
    replace:
      "  for (const action of plan.actions.filter(isLast)) await carryOut(action, observed, deps);\n" +
      "  if (!drops) await writeStatus(observed, plan.status, deps);",
  },
  {
    name: "policies-of-a-pool-with-the-browsers-name",
    kind: "name instead of id",
    breaks: "when an on-demand browser goes, the policies of the pool that has the same name are deleted",
    file: "controllers/browser-pool/apply/delete-policy-parts.ts",
    find: "if (current?.metadata.uid !== metadata.uid) return;",
    replace: "if (!current) return;",
  },
  {
    name: "rounds-before-pods-are-known",
    kind: "missing check",
    breaks: "a new leader plans before its watch has shown the pods: it ends sessions as lost and starts pools anew",
    file: "controllers/browser-pool/controller.ts",
    find: "[deps.book, watched.pods, deps.nodes,",
    replace: "[deps.book, deps.nodes,",
  },
  {
    name: "failing-since-1970",
    kind: "wrong default",
    breaks:
      "an agent that misses one answer counts as silent for ever: its browser is replaced, its session ended at once",
    file: "controllers/browser-pool/inspect/inspection-memory.ts",
    find: "const failingSinceMs = failures > 1 ? (before?.failingSinceMs ?? atMs) : atMs;",
    replace: "const failingSinceMs = before?.failingSinceMs ?? atMs;",
  },
  {
    name: "ending-pods-do-not-count",
    kind: "missing check",
    breaks:
      "browsers are replaced while the old ones still run: a pool has more than its size, and quotas are exceeded",
    file: "controllers/browser-pool/plan/plan.ts",
    find: "size - alive.length - observed.pendingCreations",
    replace: "size - staying.length - observed.pendingCreations",
  },
  {
    name: "pool-goes-before-its-last-pod-is-seen",
    kind: "missing check",
    breaks: "a pool that is deleted while a pod is being created is dropped at once, and that pod runs on without it",
    file: "controllers/browser-pool/plan/plan.ts",
    find: " && observed.pendingCreations === 0;",
    replace: ";",
  },
  {
    name: "silent-node-ends-live-sessions",
    kind: "missing check",
    breaks: "when a kubelet stops reporting, the sessions on its node end at once, though their agents answer",
    file: "controllers/browser-pool/plan/leaving.ts",
    find: "  pod.inspection.failures > 0 &&\n",
    replace: "",
  },
  {
    name: "recovered-before-agents-are-asked",
    kind: "missing check",
    breaks:
      "a recovery ends before the agents were asked under the new epoch: sessions that live are answered as ended",
    file: "controllers/browser-pool/plan/recovery-progress.ts",
    find: "pod.inspection?.epoch === epoch && !isFailing(pod) ? true : pod.askedUnder === epoch && !isPatient;",
    replace: "pod.inspection && !isFailing(pod) ? true : pod.askedUnder === epoch && !isPatient;",
  },
  {
    name: "failed-starts-are-not-counted",
    kind: "limit on the wrong side",
    breaks: "a pool whose image does not start never backs off: it starts pods at the fill rate for ever",
    file: "controllers/browser-pool/plan/starts.ts",
    find: "failedStartsBefore(pod.pod) >= known",
    replace: "failedStartsBefore(pod.pod) > known",
  },
  {
    name: "room-in-one-place-is-enough",
    kind: "inverted condition",
    breaks: "a project above its cap starts further on-demand browsers as long as the organization has room",
    file: "controllers/browser-pool/observe/refusal.ts",
    find: "if (room.project > 0 && room.organization > 0) return undefined;",
    replace: "if (room.project > 0 || room.organization > 0) return undefined;",
  },
  {
    name: "sizes-from-old-statuses",
    kind: "stale input",
    breaks:
      "pools that grow at the same time are counted by their old sizes: together they exceed the limit of sessions",
    file: "controllers/browser-pool/observe/session-book.ts",
    find: "accepted.get(metadata.uid) ?? status?.acceptedSize ?? 0",
    replace: "status?.acceptedSize ?? accepted.get(metadata.uid) ?? 0",
  },
  {
    name: "unknown-node-counts-as-well",
    kind: "inverted condition",
    breaks: "a node whose kubelet has stopped reporting is never seen as lost, so sessions on it never end",
    file: "controllers/browser-pool/observe/node-state.ts",
    find: `type === "Ready" && is !== "True"`,
    replace: `type === "Ready" && is === "False"`,
  },
  {
    name: "redis-without-a-limit-is-full",
    kind: "missing check",
    breaks: "with a Redis that has no memory limit, all ended sessions of all projects are dropped within a second",
    file: "controllers/browser-pool/ended/keep-ended-bounds.ts",
    find: "limitBytes > 0 && usedBytes > limitBytes * pressedShare",
    replace: "usedBytes > limitBytes * pressedShare",
  },
  {
    name: "largest-holder-never-gives",
    kind: "off by one",
    breaks: "the project with the most ended sessions gives none away, so the bound of all pools does not hold",
    file: "controllers/browser-pool/ended/fair-shares.ts",
    find: "left / (amounts.length - index)",
    replace: "left / (amounts.length - index - 1)",
  },
  {
    name: "name-noted-without-its-session",
    kind: "name instead of id",
    breaks: "a name that a new session has just reserved is freed since an earlier session had it: two sessions get it",
    file: "controllers/browser-pool/ended/free-ended-names.ts",
    find: "[project, name, owner.poolUid, owner.session]",
    replace: "[project, name, owner.poolUid]",
  },
  {
    name: "second-pod-of-an-on-demand-browser",
    kind: "missing check",
    breaks: "when an on-demand browser crashes, another pod is started for the session that has ended",
    file: "controllers/browser-pool/on-demand/browser-as-pool.ts",
    find: "fillRatePerMinute: status?.pod ? 0 : atOnce,",
    replace: "fillRatePerMinute: over ? 0 : atOnce,",
  },
  {
    name: "state-of-another-profile-is-saved",
    kind: "missing check",
    breaks: "an agent whose settings name another profile has its state saved all the same, to the profile of its pod",
    file: "controllers/browser-pool/on-demand/fetch-profile.ts",
    find: "if (profile?.uid !== packed.save_to)",
    replace: "if (!profile)",
  },
  {
    name: "agent-is-told-once",
    kind: "swallowed error",
    breaks: "an agent that misses the word that its profile is saved keeps its pod for minutes, and the room it takes",
    file: "controllers/browser-pool/on-demand/profile-saves.ts",
    find:
      "    const answer = await client.done(agentOf(pod));\n" +
      `    return answer.kind === "ok" ? undefined : { requeueAfterMs: againMs };`,
    replace: "    await client.done(agentOf(pod));\n    return undefined;",
  },
  {
    name: "browsers-get-a-token-of-the-cluster",
    kind: "wrong default",
    breaks: "the pods of browsers, which run untrusted pages, have a service account's token for the API server",
    file: "controllers/browser-pool/pod/pod.ts",
    find: "      automountServiceAccountToken: false,\n",
    replace: "",
  },
  {
    name: "pods-of-other-namespaces-count",
    kind: "missing check",
    breaks:
      "who may create pods in another project can make one that counts for this project's pool and is deleted by it",
    file: "controllers/browser-pool/pod/own-pod.ts",
    find:
      "  const { name, namespace, uid } = owner.metadata;\n" +
      `  if (pod.metadata.namespace !== namespace) return \`it is not in the namespace \${namespace}\`;`,
    replace: "  const { name, uid } = owner.metadata;",
  },

  // The other controllers.
  {
    name: "finalizers-of-others-are-overwritten",
    kind: "lost update",
    breaks: "a finalizer that somebody added meanwhile vanishes with ours: the object goes before their clean-up",
    file: "controllers/finalizers.ts",
    find:
      "  const { finalizers = [], resourceVersion } = object.metadata;\n" +
      "  const metadata = { finalizers: finalizers.filter((other) => other !== finalizer), resourceVersion };",
    replace:
      "  const { finalizers = [] } = object.metadata;\n" +
      "  const metadata = { finalizers: finalizers.filter((other) => other !== finalizer) };",
  },
  {
    name: "two-saves-claim-one-version",
    kind: "off by one",
    breaks: "two browsers that save one profile at the same time write to the same version: the contents are broken",
    file: "controllers/profile-versions.ts",
    find: "Math.max(status?.claimedVersion ?? 0, status?.version ?? 0) + 1",
    replace: "Math.max(status?.claimedVersion ?? 0, (status?.version ?? 0) + 1)",
  },
  {
    name: "save-into-a-new-profile",
    kind: "name instead of id",
    breaks: "the state of a browser, with its logins, goes into a new profile that has the name of the deleted one",
    file: "controllers/profile-versions.ts",
    find: " || current.metadata.uid !== profile.uid",
    replace: "",
  },
  {
    name: "project-opens-before-its-objects",
    kind: "forgotten await",
    breaks:
      "browsers are started in a project before its network policies are applied, and also when these are refused",
    file: "controllers/project/reconcile.ts",
    find: "await apply().catch(",
    replace: "void apply().catch(",
  },
  {
    name: "vault-deletes-items-of-other-projects",
    kind: "name instead of id",
    breaks: "when a vault is deleted, the items of the vaults with its name go in all other projects too",
    file: "controllers/vault/reconcile.ts",
    find:
      "  const { name, namespace } = vault.metadata;\n" +
      "  const { items } = await kube.list(vaultItemKind, { namespace });",
    replace: "  const { name } = vault.metadata;\n  const { items } = await kube.list(vaultItemKind);",
  },
  {
    name: "object-goes-before-its-secret",
    kind: "forgotten await",
    breaks: "the Secret of a deleted credential or proxy stays for ever when its deletion fails",
    file: "controllers/delete-own-secret.ts",
    find: "  await kube.delete(secrets, { name: secret, namespace });",
    replace: "  void kube.delete(secrets, { name: secret, namespace });",
  },
  {
    name: "ended-analyses-stay",
    kind: "forgotten clean-up",
    breaks:
      "an analysis that has ended is not deleted after its day, nor its screenshots, until an operator starts anew",
    file: "controllers/site-analysis/life.ts",
    find: "  return { requeueAfterMs: endedAnalysisLifeMs };",
    replace: "  return undefined;",
  },
  {
    name: "run-named-by-its-target",
    kind: "name instead of id",
    breaks: "the first runs of an analysis that was deleted and ordered again count as known: what they find is lost",
    file: "controllers/site-analysis/run.ts",
    find: `runId: \`\${metadata.uid}/`,
    replace: `runId: \`\${metadata.name}/`,
  },
  {
    name: "rivals-are-not-judged-again",
    kind: "lost update",
    breaks: "a SiteConfig that waited for an older one of its target stays refused after that one is deleted",
    file: "controllers/site-config/controller.ts",
    find: "for (const rival of rivals) queue.add(rival);",
    replace: "queue.add(name);",
  },
  {
    name: "one-project-counts-many-times",
    kind: "missing check",
    breaks:
      "a project whose sessions report together counts once for each of them and decides what all projects are told",
    file: "controllers/session-outcomes/collect.ts",
    find: "if (!isKnown || mine.has(key) || !hourly.mayCount(key, nowMs)) return false;",
    replace: "if (!isKnown || !hourly.mayCount(key, nowMs)) return false;",
  },
  {
    name: "screenshot-delete-best-effort",
    kind: "swallowed error",
    breaks:
      "when the blob store is away or refuses, the analysis loses its finalizer all the same, and its screenshots stay in the store for ever with nobody left who knows of them",
    file: "controllers/site-analysis/screenshots.ts",
    find: "if (screenshot) await blobs.delete(screenshot, { signal: AbortSignal.timeout(deleteMs) });",
    replace:
      "if (screenshot)\n      await blobs.delete(screenshot, { signal: AbortSignal.timeout(deleteMs) }).catch(() => undefined);",
  },
  {
    name: "synced-ignores-its-signal",
    kind: "missing signal",
    breaks:
      "while the API server is away, work that waits for the first list does not end when the lead is lost or the process stops: the queue's stop waits for it, and the operator hangs until it is killed",
    file: "kube/reflector.ts",
    find: "synced: (signal) => awaitWith(firstList.promise, signal),",
    replace: "synced: () => firstList.promise,",
  },
];
