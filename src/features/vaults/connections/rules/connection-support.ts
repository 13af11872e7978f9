/**
 * Settings of a connection that nothing here carries out (CONNECTION-21): people log in on the hosted page, and no
 * browser logs in, checks or renews a login by itself. A value that asks for what happens anyway is accepted. For
 * requests and YAML alike.
 */

import { mergeTelemetry, type Telemetry } from "../../../../core/model/settings/telemetry.ts";
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";
import type { AuthConnectionSpec } from "../auth-connection.ts";

/** The settings that are not carried out, of a spec or of a request; null means none. */
type UnsupportedSettings = { [Key in UnsupportedKey]?: AuthConnectionSpec[Key] | null | undefined };

type UnsupportedKey =
  | "allowedDomains"
  | "loginUrl"
  | "healthChecks"
  | "healthCheckInterval"
  | "autoReauth"
  | "proxy"
  | "recordSession"
  | "browserTelemetry";

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
  allowedDomains: {
    asks: ({ allowedDomains }) => (allowedDomains ?? []).length > 0,
    message: "no browser follows a login to further domains here; leave it out or give an empty list",
  },
  loginUrl: {
    asks: ({ loginUrl }) => Boolean(loginUrl),
    message: "no browser opens the page of a login here; leave it out",
  },
  healthChecks: {
    asks: ({ healthChecks }) => healthChecks === true,
    message: "logins are not checked periodically here; leave it out or give false",
  },
  healthCheckInterval: {
    asks: ({ healthCheckInterval }) => (healthCheckInterval ?? undefined) !== undefined,
    message: "logins are not checked periodically here; leave it out",
  },
  autoReauth: {
    asks: ({ autoReauth }) => autoReauth === true,
    message: "logins are not renewed without a person here; leave it out or give false",
  },
  proxy: {
    asks: ({ proxy }) => Boolean(proxy),
    message: "no browser logs in through a proxy here; leave it out, and give browsers and pools their proxy",
  },
  recordSession: {
    asks: ({ recordSession }) => recordSession === true,
    message: "no browser logs in here, so there is nothing to record; leave it out or give false",
  },
  browserTelemetry: {
    asks: ({ browserTelemetry }) => capturesSomething(browserTelemetry),
    message: "no browser logs in here, so there is nothing to capture; leave it out or give null",
  },
};

/** What a spec or a request asks for in vain, one problem for each setting. */
export const unsupportedProblems = (settings: UnsupportedSettings): SpecProblem[] =>
  Object.entries(checks).flatMap(([key, { asks, message }]) => (asks(settings) ? [problemAt([key], message)] : []));

/** A spec as it is in force: without what is not carried out. By YAML it can have such settings. */
export const supportedSpec = ({
  allowedDomains,
  loginUrl,
  healthCheckInterval,
  proxy,
  browserTelemetry,
  ...spec
}: AuthConnectionSpec): AuthConnectionSpec => ({
  ...spec,
  healthChecks: false,
  autoReauth: false,
  recordSession: false,
});
