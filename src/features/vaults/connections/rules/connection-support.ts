/**
 * Settings of a connection that nothing here carries out (CONNECTION-21). A value that asks for what happens anyway is
 * accepted. For requests and YAML alike.
 */

import { mergeTelemetry, type Telemetry } from "../../../../core/model/settings/telemetry.ts";
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";
import type { AuthConnectionSpec } from "../auth-connection.ts";

/** The settings that are not carried out, of a spec or of a request; null means none. */
type UnsupportedSettings = { [Key in UnsupportedKey]?: AuthConnectionSpec[Key] | null | undefined };

type UnsupportedKey = "proxy" | "recordSession" | "browserTelemetry";

/** Malformed telemetry has problems of its own. One with every category off captures nothing. */
const capturesSomething = (telemetry: Telemetry | null | undefined): boolean => {
  const merged = mergeTelemetry(undefined, telemetry);
  const { browser = {}, ...others } = (merged.ok && merged.telemetry) || {};
  return (
    Object.values(browser).some((category) => category?.enabled) ||
    others.export?.otlp?.enabled === true ||
    others.storage?.enabled === true
  );
};

type Check = { asks(settings: UnsupportedSettings): boolean; message: string };

const checks: Record<UnsupportedKey, Check> = {
  proxy: {
    asks: ({ proxy }) => Boolean(proxy),
    message: "logins take no proxy here; leave it out, and give browsers and pools their proxy",
  },
  recordSession: {
    asks: ({ recordSession }) => recordSession === true,
    message: "logins are not recorded here; leave it out or give false",
  },
  browserTelemetry: {
    asks: ({ browserTelemetry }) => capturesSomething(browserTelemetry),
    message: "nothing is captured of logins here; leave it out or give null",
  },
};

/** What a spec or a request asks for in vain, one problem for each setting. */
export const unsupportedProblems = (settings: UnsupportedSettings): SpecProblem[] =>
  Object.entries(checks).flatMap(([key, { asks, message }]) => (asks(settings) ? [problemAt([key], message)] : []));

/** A spec as it is in force: without what is not carried out. By YAML it can have such settings. */
export const supportedSpec = ({ proxy, browserTelemetry, ...spec }: AuthConnectionSpec): AuthConnectionSpec => ({
  ...spec,
  recordSession: false,
});
