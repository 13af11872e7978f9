/** Answers of WebDriver over HTTP, in the form of its specification. */

/** The error codes that the service answers with by itself, and their status. */
const statusOf = {
  "invalid argument": 400,
  "invalid session id": 404,
  "session not created": 500,
  timeout: 500,
  "unknown command": 404,
  "unknown error": 500,
  "unknown method": 405,
  "unsupported operation": 500,
} as const;

export type WebDriverErrorCode = keyof typeof statusOf;

export type WebDriverAnswer = { status: number; body: { value: unknown } };

/** `more`: `status` in the place of the usual one, and what clients may read as `data`. */
export const errorAnswer = (
  error: WebDriverErrorCode,
  message: string,
  { status = statusOf[error], data }: { status?: number; data?: object } = {},
): WebDriverAnswer => ({ status, body: { value: { error, message, stacktrace: "", ...(data && { data }) } } });
