/**
 * The recorded examples of the agent's HTTP API, one file of agent/ for each route. Both sides run them: the API's and
 * the operator's clients must send each request and understand its answer, the agent must take each request and give
 * that answer.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const folder = join(import.meta.dirname, "agent");

/**
 * At most one of the bodies. `bytes`: as they are, and proven by the head of an answer. `sealed`, `sealedStream`: what is
 * in the body, which is sealed for the agent or by it.
 */
const bodies = {
  body: z.unknown().optional(),
  bytes: z.string().optional(),
  sealed: z.unknown().optional(),
  sealedStream: z.string().optional(),
};

const Exchange = z.strictObject({
  /** What the example shows. */
  says: z.string(),
  /** The state of the agent before it (agent-states.ts). Left out: no test brings this agent there. */
  given: z.string().optional(),
  /** Which method of which client sends it, and with what. Left out: none of the clients sends it. */
  call: z.tuple([z.string()], z.unknown()).optional(),
  request: z.strictObject({
    method: z.enum(["GET", "POST", "PUT", "DELETE"]),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    ...bodies,
  }),
  answer: z.strictObject({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    ...bodies,
    /** The lines of a stream. `goesOn`: it does not end after them. */
    lines: z.array(z.record(z.string(), z.unknown())).optional(),
    goesOn: z.literal(true).optional(),
  }),
  /** What the client's method resolves with. */
  result: z.unknown().optional(),
});
type Exchange = z.infer<typeof Exchange>;

const File = z.strictObject({ route: z.string(), exchanges: z.array(Exchange).min(1) });

/** One example: `route`, such as `PUT /lease`, and the exchange. */
export type AgentExample = Exchange & { route: string; title: string };

/** All of them. */
export const agentExamples: AgentExample[] = readdirSync(folder)
  .sort()
  .flatMap((file) => {
    const { route, exchanges } = File.parse(JSON.parse(readFileSync(join(folder, file), "utf8")));
    return exchanges.map((exchange) => ({ ...exchange, route, title: `${route}: ${exchange.says}` }));
  });
