import { acceptedDraft, conditionsOf, type Draft, specProblemsText } from "../../core/reconcile/conditions.ts";
import type { WebProxy } from "./proxy.ts";
import { lastCheck } from "./rules/proxy-answer.ts";
import { proxyProblems } from "./rules/proxy-problems.ts";
import { type ProxyProvider, unsupportedSettings } from "./rules/proxy-provider.ts";

type Refusal = { reason: string; message: string };

const refusalOf = ({ spec }: WebProxy, provider: ProxyProvider): Refusal | undefined => {
  const problems = proxyProblems(spec);
  const unsupported = problems.length > 0 ? [] : unsupportedSettings(spec, provider);
  const message = specProblemsText([...problems, ...unsupported]);
  if (message === "") return undefined;
  return { reason: problems.length > 0 ? "InvalidSpec" : "NotSupportedHere", message };
};

const readyDraft = (availability: "available" | "unavailable" | undefined): Draft => {
  const type = "Ready";
  if (availability === "unavailable")
    return { type, status: false, reason: "Unavailable", message: "the last check did not get through the proxy" };
  const message = availability ? "the last check got through the proxy" : "the proxy was not checked yet";
  return { type, status: true, reason: availability ? "Available" : "Accepted", message };
};

/** The status of a proxy, pure; from its spec and its last check, since the operator reads no Secrets for it. */
export const proxyStatus = (
  proxy: WebProxy,
  { provider, nowMs }: { provider: ProxyProvider; nowMs: number },
): NonNullable<WebProxy["status"]> => {
  const refusal = refusalOf(proxy, provider);
  const check = lastCheck(proxy);
  return {
    observedGeneration: proxy.metadata.generation ?? 0,
    conditions: conditionsOf(proxy, [acceptedDraft(refusal), readyDraft(check?.status)], nowMs),
    ...(check && { availability: check.status, lastCheckTime: check.checkedAt }),
    ...(check?.ipAddress && { ipAddress: check.ipAddress }),
  };
};
