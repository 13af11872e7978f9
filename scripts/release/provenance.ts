/** Who built an artefact, from what: SLSA provenance 1.0 (slsa.dev/spec/v1.0/provenance). */
import { randomUUID } from "node:crypto";

/** What an artefact was built from and by. */
export type Build = {
  version: string;
  /** Of git. */
  commit: string;
  /** URL of the repository. */
  source: string;
  /** Base images with their digests, where they are known. */
  bases: readonly string[];
  startedOn: Date;
};

/** URL of a page that says what a build of ours does. */
const buildType = "https://browserpool.dev/docs/releases#build";

/** The workflow that runs this process; a person's machine otherwise. */
const builderId = ({ GITHUB_SERVER_URL, GITHUB_WORKFLOW_REF }: Readonly<Record<string, string | undefined>>): string =>
  GITHUB_SERVER_URL && GITHUB_WORKFLOW_REF
    ? `${GITHUB_SERVER_URL}/${GITHUB_WORKFLOW_REF}`
    : "https://browserpool.dev/docs/releases#by-hand";

const dependency = (name: string): object => {
  const [uri = "", digest] = name.split("@sha256:");
  return { uri: `oci://${uri}`, ...(digest && { digest: { sha256: digest } }) };
};

/** The predicate of one artefact. `parameters`: what tells it from the others of the build. */
export const provenanceOf = (
  { version, commit, source, bases, startedOn }: Build,
  parameters: Record<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): object => ({
  buildDefinition: {
    buildType,
    externalParameters: { source, version, ...parameters },
    internalParameters: {},
    resolvedDependencies: [{ uri: `git+${source}`, digest: { gitCommit: commit } }, ...bases.map(dependency)],
  },
  runDetails: {
    builder: { id: builderId(env) },
    metadata: {
      invocationId: env.GITHUB_RUN_ID ?? randomUUID(),
      startedOn: startedOn.toISOString(),
      finishedOn: new Date().toISOString(),
    },
  },
});
