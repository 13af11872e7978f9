import { AppError, unavailable } from "../errors.ts";

/** Error replies of a Redis that answers but can't serve now. */
const outageReplies = [
  "LOADING",
  "READONLY",
  "MASTERDOWN",
  "OOM",
  "NOREPLICAS",
  "CLUSTERDOWN",
  "MOVED",
  "ASK",
  "TRYAGAIN",
  "MISCONF",
  "UNKILLABLE",
  "BUSY",
];

const classify = (error: unknown): unknown => {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const isRefusal = error.name === "ReplyError" && !outageReplies.includes(error.message.split(" ", 1)[0] ?? "");
  return isRefusal ? error : unavailable("Redis", error);
};

/** Awaits a command. Turns the error of an outage into `unavailable`. */
export const orUnavailable = async <T>(command: Promise<T>): Promise<T> => {
  try {
    return await command;
  } catch (error) {
    throw classify(error);
  }
};
