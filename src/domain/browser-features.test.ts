import { expect, test } from "vitest";
import { featureProblems } from "./browser-features.ts";
import { onDemandPoolSpec } from "./on-demand-pool.ts";

// HTTP-30, PROFILE-7
test("a browser can save its profile where there is a store, and not elsewhere: over HTTP and by YAML", () => {
  const spec = { profile: { name: "work", saveChanges: true } };
  const asPool = onDemandPoolSpec({ ...spec, vaults: [], timeoutSeconds: 60 } as never);
  for (const settings of [spec, asPool]) {
    expect(featureProblems(settings, [])).toMatchObject([{ path: ["profile"] }]);
    expect(featureProblems(settings, ["blob_store"])).toEqual([]);
  }
  expect(featureProblems({ profile: { name: "work", saveChanges: false } as never }, [])).toEqual([]);
});
