/** The store of blobs of the cluster tests (store.yaml). */
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../src/local/required-program.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { s3Login } from "../../support/s3-server.ts";
import { type Images, type Run, systemNamespace } from "../lane.ts";

const folderOfTests = resolve(import.meta.dirname, "..");

/** As in store.yaml and values.yaml. */
const namespace = "browserpool-test-store";
const loginSecret = "test-store-login";

/** The image of the store. */
export const storeImage = ({ prefix, tag }: Images): string => `${prefix}/test-store:${tag}`;

/** Builds the image of the store around the program that the set-up has built. */
export const buildStore = async (images: Images, { run, folder }: { run: Run; folder: string }): Promise<void> => {
  const context = join(folder, "store-image");
  await mkdir(context, { recursive: true });
  await copyFile(requiredProgram(locatePrograms(process.env), "versitygw"), join(context, "versitygw"));
  const recipe = join(folderOfTests, "base-images/Dockerfile.store");
  await run("docker", "build", "--file", recipe, "--tag", storeImage(images), context);
};

/** Starts the store, empty, and resolves when it answers. */
export const startStore = async (images: Images, { run, folder }: { run: Run; folder: string }): Promise<void> => {
  const file = join(folder, "store.yaml");
  const text = await readFile(join(folderOfTests, "store.yaml"), "utf8");
  const values = {
    STORE_IMAGE: storeImage(images),
    STORE_ACCESS: s3Login.AWS_ACCESS_KEY_ID,
    STORE_SECRET: s3Login.AWS_SECRET_ACCESS_KEY,
  };
  await writeFile(
    file,
    text.replaceAll(/STORE_[A-Z]+/g, (name) => values[name as keyof typeof values]),
  );
  await run("kubectl", "apply", "--filename", file);
  await run("kubectl", "wait", "pod/store", "--namespace", namespace, "--for", "condition=Ready", "--timeout", "120s");
};

/** Takes the store away with all that it has. */
export const removeStore = (run: Run): Promise<string> =>
  run("kubectl", "delete", "namespace", namespace, "--ignore-not-found", "--timeout", "120s");

/** Gives the release its login; its namespace must be there. */
export const giveLogin = async (kube: Kube): Promise<void> => {
  await kube.apply(
    secrets,
    { metadata: { name: loginSecret, namespace: systemNamespace }, stringData: s3Login },
    { fieldManager: "cluster-tests" },
  );
};
