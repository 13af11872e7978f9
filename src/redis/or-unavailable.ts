import { AppError, unavailable } from "../errors.ts";

/** Replies with which Redis says that it can't serve now, though it answers. */
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

/** Awaits a command; an outage becomes `unavailable`. */
export const orUnavailable = async <T>(command: Promise<T>): Promise<T> => {
  try {
    return await command;
  } catch (error) {
    throw classify(error);
  }
};
