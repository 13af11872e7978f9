import { type Logger, pino } from "pino";

export type { Logger } from "pino";

/** Keys whose values never reach a log line, wherever they stand in the logged object. */
const secretKeys = ["authorization", "jwt", "token", "key", "password", "api_key", "apiKey", "cdp_ws_url", "url"];

/** A JSON logger. `level`: a pino level name; `service`: the command that logs, e.g. `api`; `file`: left out, stderr. */
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
