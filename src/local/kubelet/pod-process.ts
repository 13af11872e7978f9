import { constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { keyOf, type Pod, type Ref } from "../../platform/kube/objects.ts";
import { type Child, startChild } from "../../platform/process/child-process.ts";
import { startLog } from "../../platform/process/log-file.ts";
import { endPodProcesses, podLogsFolder, podsFolder, podTempFolder, removePodFolders } from "../leftovers.ts";
import type { SecretValues } from "./pod-secrets.ts";
import type { PodUsers } from "./pod-user.ts";

/** The command line and the variables of a pod's one container. */
type PodEnvironment = { args: string[]; env: Record<string, string> };

/**
 * Expands text as a kubelet does: `$(NAME)` becomes the variable's value if there is one, `$$` becomes a plain `$`.
 * `known`: the variables defined before this text.
 */
export const expandVariables = (text: string, known: Record<string, string>): string =>
  text.replace(/\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g, (match, name?: string) =>
    name === undefined ? "$" : Object.hasOwn(known, name) ? (known[name] ?? "") : match,
  );

/**
 * `podIp`: the pod's address, since its status has none yet. `secretValues`: of the variables that come from Secrets.
 * Unsupported fields become "". As under a kubelet, an argument could name such a variable; the operator's arguments
 * name none.
 */
export const podEnvironment = ({ metadata, spec }: Pod, podIp: string, secretValues: SecretValues): PodEnvironment => {
  const fields: Record<string, string | undefined> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "status.podIP": podIp,
  };
  const container = spec?.containers[0];
  const env: Record<string, string> = {};
  for (const { name, value = "", valueFrom } of container?.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    if (valueFrom?.secretKeyRef) env[name] = secretValues.get(name)?.reveal() ?? "";
    else env[name] = path === undefined ? expandVariables(value, env) : (fields[path] ?? "");
  }
  return { args: (container?.args ?? []).map((arg) => expandVariables(arg, env)), env };
};

export type PodProcessOptions = {
  dataDir: string;
  /** The program to which the container's arguments are added. */
  agentCommand: readonly [program: string, ...args: string[]];
  /** Further variables of every agent; its pod's own variables win. */
  agentEnv: Record<string, string>;
  /** Where root runs local mode, and may. */
  users?: PodUsers | undefined;
  /** Resolves when the agent is compiled; never rejects. The first agents would each do that, at the same time. */
  compiled?: Promise<void>;
};

/** A termination message is cut to this length, bytes, like a kubelet's. */
const maxTerminationBytes = 4096;

/** Follows no link, and waits for no writer. */
const onlyFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const podDirOf = (dataDir: string, pod: Pod): string => join(podsFolder(dataDir), pod.metadata.uid);
const terminationLog = (podDir: string): string => join(podDir, "termination-log");
const logPathOf = (dataDir: string, ref: Ref): string =>
  join(podLogsFolder(dataDir), `${keyOf(ref).replace("/", "_")}.log`);

/**
 * Starts the pod's program in its own folder, with a temp folder of its own, and with its output in
 * `<dataDir>/logs/pods/<namespace>_<name>.log`.
 */
export const startPodProcess = async (
  pod: Pod,
  given: { podIp: string; secretValues: SecretValues },
  options: PodProcessOptions,
): Promise<Child> => {
  const { dataDir, agentCommand, agentEnv } = options;
  await options.compiled;
  const podDir = podDirOf(dataDir, pod);
  const logPath = logPathOf(dataDir, pod.metadata);
  const { args, env } = podEnvironment(pod, given.podIp, given.secretValues);
  const [program, ...firstArgs] = agentCommand;
  const tempDir = podTempFolder(pod.metadata.uid);
  for (const dir of [podDir, tempDir]) await mkdir(dir, { recursive: true, mode: 0o700 });
  await startLog(logPath);
  // When this process is killed, the kernel tells the agent to end, and the agent ends its browser. At once, since no
  // process is left that waits for an end in order.
  const parentDeathSignal = "INT";
  const command = [program, ...firstArgs, ...args] as const;
  const places = { podIp: given.podIp, podDir, tempDir, parentDeathSignal };
  const started = (await options.users?.commandFor(places, command)) ?? { command, env: {} };
  return startChild({
    dataDir,
    name: `pod-${pod.metadata.uid}`,
    command: started.command,
    env: {
      ...agentEnv,
      ...started.env,
      ...env,
      BROWSERPOOL_TERMINATION_LOG: terminationLog(podDir),
      BROWSERPOOL_AGENT_DATA_DIR: podDir,
      BROWSERPOOL_AGENT_SCRATCH_DIRS: podDir,
      HOME: podDir,
      TMPDIR: tempDir,
    },
    cwd: podDir,
    logPath,
    parentDeathSignal,
  });
};

/** The termination message of the pod's program, or "". A pod may put anything in its place, also a link or a pipe. */
export const readTermination = async (dataDir: string, pod: Pod): Promise<string> => {
  try {
    await using file = await open(terminationLog(podDirOf(dataDir, pod)), onlyFile);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxTerminationBytes), 0, maxTerminationBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  }
};

/** Ends processes that the pod's program started and did not end, then removes the pod's folders. */
export const cleanPodProcess = async (dataDir: string, pod: Pod): Promise<void> => {
  await endPodProcesses(podDirOf(dataDir, pod));
  await removePodFolders(dataDir, pod.metadata.uid);
};

/** Removes the output of a deleted pod. */
export const removePodLog = (dataDir: string, ref: Ref): Promise<void> => rm(logPathOf(dataDir, ref), { force: true });
