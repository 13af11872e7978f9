import { type Logger, pino } from "pino";

export type { Logger } from "pino";

/** Keys whose values are never logged, at any depth of the logged object. */
const secretKeys = ["authorization", "jwt", "token", "key", "password", "api_key", "apiKey", "cdp_ws_url", "url"];

/** A JSON logger. `level`: a pino level name; `service`: the command that logs, e.g. `api`; `file`: by default stderr. */
export const createLogger = (level: string, service: string, file?: string): Logger =>
  pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: "[redacted]" },
    },
    pino.destination({ dest: file ?? 2, sync: true, mode: 0o600 }),
  );
