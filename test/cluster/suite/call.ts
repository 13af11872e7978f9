import type { Lane } from "../lane.ts";

// biome-ignore lint/suspicious/noExplicitAny: the checks name the fields that they look at
type Answer = any;

/** Calls the API with the administrator's key; rejects when the answer is no success. */
export const callOf =
  ({ stack }: Lane) =>
  async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await stack.call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
