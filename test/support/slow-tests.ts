import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose files take longest, the longest first: they bring up whole clusters, and wait for what takes its time. */
const slowFolders = ["/test/faults/", "/test/e2e/", "/test/vault/", "/test/simulated-node/"];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = slowFolders.findIndex((folder) => moduleId.includes(folder));
  return place === -1 ? slowFolders.length : place;
};

/** Begins with the files that take long, so that no worker is left alone with one at the end. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
