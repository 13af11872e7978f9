/** The tests of one mistake: in the order in which the command line names their files. */
import { relative } from "node:path";
import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import usual from "../../vitest.config.ts";
import { root } from "./tree.ts";

const placeOf = ({ moduleId }: TestSpecification): number => process.argv.indexOf(relative(root, moduleId));

class InGivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default mergeConfig(usual, { test: { sequence: { sequencer: InGivenOrder } } });
