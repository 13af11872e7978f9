import { expect, test } from "vitest";
import type { Pod } from "../../platform/kube/objects.ts";
import { createBrowserTime } from "./browser-time.ts";
import { startStages } from "./observe/start-stages.ts";

const pod = (name: string, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, namespace: "shop", uid: name, resourceVersion: "1", creationTimestamp: "2030-01-01T00:00:00Z" },
  spec: { nodeName: "node", containers: [] },
  ...more,
});

test("a browser's time is counted from its node to its end, at each scrape what has passed since the last one", () => {
  let ms = 0;
  let seconds = 0;
  let scrape: () => void = () => undefined;
  const time = createBrowserTime(
    {
      browsersRan: (namespace, more) => {
        expect(namespace).toBe("shop");
        seconds += more;
      },
      beforeScrape: (now) => {
        scrape = now;
        return () => undefined;
      },
    },
    () => ms,
  );
  time.note(pod("pending", { spec: { containers: [] } }), "ADDED");
  time.note(pod("a"), "ADDED");
  ms = 2000;
  scrape();
  expect(seconds).toBe(2);
  time.note(pod("b"), "ADDED");
  time.note(pod("b"), "MODIFIED");
  ms = 3000;
  time.note(pod("a", { status: { phase: "Failed" } }), "MODIFIED");
  time.note(pod("a"), "DELETED");
  expect(seconds).toBe(3);
  ms = 10_000;
  time.stop();
  expect(seconds).toBe(11);
  time.stop();
  expect(seconds).toBe(11);
});

test("the stages of a start are the times between what Kubernetes writes down of its pod", () => {
  const condition = (type: string, second: number) => ({
    ...{ type, status: "True" },
    lastTransitionTime: `2030-01-01T00:00:0${second}Z`,
  });
  const at = (second: number): number => Date.UTC(2030, 0, 1, 0, 0, second);
  const container = { name: "agent", ready: true, restartCount: 0, image: "", imageID: "" };
  const running = { ...container, state: { running: { startedAt: "2030-01-01T00:00:05Z" } } };
  const conditions = [condition("PodScheduled", 1), condition("Ready", 7)];
  expect(startStages(pod("a", { status: { conditions, containerStatuses: [running] } }))).toEqual([
    { stage: "scheduled", startMs: at(0), endMs: at(1) },
    { stage: "running", startMs: at(1), endMs: at(5) },
    { stage: "ready", startMs: at(5), endMs: at(7) },
  ]);
  expect(startStages(pod("a", { status: { conditions } }))).toEqual([]);
});
