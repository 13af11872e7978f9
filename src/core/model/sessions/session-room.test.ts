import { expect, test } from "vitest";
import { noOnDemandRoom, onDemandRoom, poolAboveCap, type SessionUse } from "./session-room.ts";

const limits = { pooledSessions: 50, onDemandSessions: 10, projectOnDemandSessions: 4 };
const use = (more: Partial<SessionUse> = {}): SessionUse => ({
  cap: undefined,
  inProject: { pooled: 0, onDemand: 0 },
  onDemandInAll: 0,
  limits,
  ...more,
});

// LIMIT-10, LIMIT-20
test.each<[string, SessionUse, object, string]>([
  [
    "the default of projects",
    use({ inProject: { pooled: 40, onDemand: 4 }, onDemandInAll: 4 }),
    { project: 0, organization: 6 },
    "4 on-demand",
  ],
  [
    "a project's cap",
    use({ cap: 5, inProject: { pooled: 3, onDemand: 2 }, onDemandInAll: 2 }),
    { project: 0, organization: 8 },
    "may run 5",
  ],
  [
    "a cap that was lowered",
    use({ cap: 5, inProject: { pooled: 9, onDemand: 0 } }),
    { project: 0, organization: 10 },
    "may run 5",
  ],
  ["the organization", use({ cap: 50, onDemandInAll: 12 }), { project: 50, organization: 0 }, "may run 10"],
])("%s leaves room for so many on-demand browsers, and says why not for more", (_, given, room, why) => {
  expect(onDemandRoom(given)).toMatchObject(room);
  expect(noOnDemandRoom(given, onDemandRoom(given))).toContain(why);
});

test("a pool may grow up to the cap, which counts on-demand browsers too", () => {
  const inProject = { pooled: 3, onDemand: 2 };
  expect(poolAboveCap(5, { cap: 10, inProject })).toBeUndefined();
  expect(poolAboveCap(6, { cap: 10, inProject })).toContain("3 of other pools and 2 on-demand browsers");
  expect(poolAboveCap(600, { cap: undefined, inProject })).toBeUndefined();
});
