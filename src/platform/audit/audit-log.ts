/**
 * Writes audit lines. What was done has a line each time. Lines of calls that were refused or failed are limited for
 * each API key, and for all callers without one together: a flood of them costs nothing but the calls. A line counts
 * those that were left out.
 */
import type { AuditedCall, AuditLine, SuppressedLine } from "./audit-line.ts";

export type AuditLog = {
  /** Never throws and never waits. */
  record(call: AuditedCall): void;
  /** Writes the counts that are still open. */
  close(): void;
};

type AuditLogOptions = {
  replica: string;
  /** Takes one line without its end. */
  write(line: string): void;
  /** Takes the same line for those who read recent ones; `json`: its text. */
  keep?(line: AuditLine | SuppressedLine, json: string): void;
  /** Told of each line that was left out. */
  onSuppressed?(): void;
  /** ms since the epoch. */
  now?: () => number;
  /** Time after which lines that were left out are counted in a line, ms. */
  countEveryMs?: number;
};

/** Lines of refused and failed calls of one key: so many at once, and so many a second. */
const burst = 50;
const perSecond = 5;

/**
 * Keys whose lines are counted at a time. There are as many as keys make mistakes in a moment; more share one count.
 */
const maxCallers = 1000;

/** The callers beyond `maxCallers`, and the name of those without a key. No id of a key looks like them. */
const others = "(others)";
const noKey = "(none)";

type Budget = { lines: number; atMs: number; suppressed: number; sinceMs: number };

/** Makes an audit log. Its timer does not keep the process alive. */
export const createAuditLog = ({
  replica,
  write,
  keep = () => undefined,
  onSuppressed = () => undefined,
  now = Date.now,
  countEveryMs = 10_000,
}: AuditLogOptions): AuditLog => {
  const budgets = new Map<string, Budget>();
  let timer: NodeJS.Timeout | undefined;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const stamp = (): { stream: "audit"; time: string; replica: string } => ({
    stream: "audit",
    time: iso(now()),
    replica,
  });

  const pass = (line: AuditLine | SuppressedLine): void => {
    const json = JSON.stringify(line);
    write(json);
    keep(line, json);
  };

  /** Writes what was left out, and forgets callers with a whole budget. */
  const count = (): void => {
    timer = undefined;
    for (const [caller, budget] of budgets) {
      const { suppressed, sinceMs } = budget;
      budget.suppressed = 0;
      if (suppressed > 0) {
        const key_id = caller === noKey || caller === others ? null : caller;
        pass({ ...stamp(), key_id, suppressed, since: iso(sinceMs) });
      }
      refill(budget);
      if (budget.lines >= burst) budgets.delete(caller);
    }
  };

  const refill = (budget: Budget): void => {
    const nowMs = now();
    // A clock that was set back refills nothing.
    const passedMs = Math.max(0, nowMs - budget.atMs);
    budget.lines = Math.min(burst, budget.lines + (passedMs / 1000) * perSecond);
    budget.atMs = nowMs;
  };

  const budgetOf = (caller: string): Budget => {
    const name = budgets.has(caller) || budgets.size < maxCallers ? caller : others;
    const budget = budgets.get(name) ?? { lines: burst, atMs: now(), suppressed: 0, sinceMs: 0 };
    budgets.set(name, budget);
    refill(budget);
    return budget;
  };

  /** Whether the line may be written; else it is counted. */
  const isWithinBudget = ({ key_id, result }: AuditedCall): boolean => {
    if (result === "done" || result === "repeated") return true;
    timer ??= setTimeout(count, countEveryMs).unref();
    const budget = budgetOf(key_id ?? noKey);
    if (budget.lines >= 1) {
      budget.lines -= 1;
      return true;
    }
    if (budget.suppressed === 0) budget.sinceMs = now();
    budget.suppressed += 1;
    onSuppressed();
    return false;
  };

  return {
    record(call) {
      if (isWithinBudget(call)) pass({ ...stamp(), ...call });
    },
    close() {
      clearTimeout(timer);
      count();
    },
  };
};
