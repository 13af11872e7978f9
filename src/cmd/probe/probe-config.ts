import { z } from "zod";

export type ProbeConfig = {
  /** URL of the HTTP API, without a slash at the end. */
  url: string;
  apiKey: string;
  /** Id or name; undefined: the probe creates its own pool. */
  pool: string | undefined;
};

const required = { error: "is not set" };

const ProbeEnv = z.object({
  BROWSERPOOL_PROBE_URL: z.url({ protocol: /^https?$/, error: "give the URL of the HTTP API: http://… or https://…" }),
  BROWSERPOOL_API_KEY: z.string(required).min(1, required),
  BROWSERPOOL_PROBE_POOL: z.string().optional(),
});

/** Reads the probe's variables. Throws one error that names every bad variable, without its value. */
export const readProbeConfig = (env: Record<string, string | undefined>): ProbeConfig => {
  const { data, error } = ProbeEnv.safeParse(env);
  if (!data) {
    const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new Error(`the probe cannot start: ${problems.join("; ")}`);
  }
  return {
    url: data.BROWSERPOOL_PROBE_URL.replace(/\/+$/, ""),
    apiKey: data.BROWSERPOOL_API_KEY.trim(),
    pool: data.BROWSERPOOL_PROBE_POOL || undefined,
  };
};
