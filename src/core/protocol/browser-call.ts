/**
 * Calls that a holder makes to what is beside its browser: the API finds the session and passes the call on, the agent
 * carries it out (core/agent/call-routes.ts). Both sides read it by one contract.
 *
 *   holder ──► API, which knows who may ──► /calls/{name}?query at the agent, whose lease it must be ──► a feature
 *          ◄──        JSON or bytes     ◄──
 */
import type { z } from "zod";

/** Of an agent's routes: what precedes the name of a call. */
export const callsPath = "/calls/";

/** `type`: the content type of the body. */
export type CallUpload = { mostBytes: number; type: "application/octet-stream" | "multipart/form-data" };

export type CallContract<
  Query extends z.ZodObject | undefined = z.ZodObject | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
> = {
  method: "get" | "post" | "put" | "delete";
  /** What follows `/browsers/{id_or_name}/`, e.g. `fs/read_file`; one part may be a parameter: `fs/watch/{watch_id}`. */
  name: string;
  query: Query;
  /** JSON. */
  body: Body;
  /** In the place of `body`: bytes, which go through the service as they come. */
  upload?: CallUpload;
  /** Longest time for the answer, ms; left out, that of every call. */
  answerMs?: number;
  /** What is answered; undefined: nothing. */
  answer: z.ZodType | { files: string } | undefined;
};

/** A contract, with its types. */
export const callContract = <
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  contract: Omit<CallContract<Query, Body>, "query" | "body"> & { query?: Query; body?: Body },
): CallContract<Query, Body> => ({ query: undefined as Query, body: undefined as Body, ...contract });

/** Longest text that an agent says of a call that it refuses, characters. */
export const maxRefusalChars = 500;
