import { mergeConfig } from "vitest/config";
import usual from "../../../vitest.config.ts";

export default mergeConfig(usual, { test: { setupFiles: ["test/mutations/fitting/begin-file.ts"], retry: 0 } });
