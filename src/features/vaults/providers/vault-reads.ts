/**
 * Reads of a HashiCorp Vault or an OpenBao over HTTP. The server is at an address of the configuration alone; what it answers is
 * bounded, redirects are not followed, and messages have nothing of an answer.
 */
import { Pool } from "undici";
import type { z } from "zod";
import { retry } from "../../../platform/base/retry.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { ProviderFailed, readMs, readTries } from "./store.ts";

/** `namespace`: empty for the root namespace, which is the only one of many servers. */
export type VaultServer = { address: string; token: Sensitive; namespace: string };

export type VaultReads = {
  /** What is at a path below `/v1/`; undefined when there is nothing. Throws `ProviderFailed`. */
  read<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S> | undefined>;
  close(): Promise<void>;
};

/** Connections of one list. */
export const connections = 8;

/** Bytes of the head of an answer, and of its body: a Vault takes 1 MiB for an entry, unless it is set otherwise. */
const maxHeaderBytes = 16 * 1024;
const mostBytes = 4 * 1024 * 1024;

/** What another try may cure. */
class PassingFailure extends ProviderFailed {}

const refused = (message: string) => new ProviderFailed("credential_provider_refused", message);
const unavailable = (message: string) => new ProviderFailed("credential_provider_unavailable", message);
const passing = (message: string) => new PassingFailure("credential_provider_unavailable", message);

const problemOf = (status: number): ProviderFailed => {
  if (status >= 300 && status <= 399)
    return refused(`the address redirects (${status}), which is not followed; give that of the active node`);
  if (status === 400) return refused("the server finds the request malformed (400); see address, mount, namespace");
  if (status === 403)
    return refused("the token is not valid, or its policies do not let it read at mount and path_prefix (403)");
  if (status === 429) return passing("the server limits the rate of requests (429)");
  if (status === 501) return unavailable("the server is not initialized (501)");
  if (status === 503) return passing("the server is sealed, or in maintenance (503); unseal it");
  if (status >= 500) return passing(`the server is in trouble (${status})`);
  return unavailable(`the server answers as no Vault does (${status}); see the address`);
};

/** Codes of what is wrong with a certificate. */
const certificateCode = /CERT|UNABLE_TO_VERIFY/;

const noAnswer = (error: unknown): ProviderFailed => {
  const { name, code = "" } = error as { name?: string; code?: string };
  if (certificateCode.test(code))
    return refused(`the certificate of the address is not trusted (${code}); give its CA in NODE_EXTRA_CA_CERTS`);
  return passing(`the server does not answer (${name === "TimeoutError" ? "in time" : code || "no connection"})`);
};

const bodyOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw unavailable(`an answer has more than ${mostBytes} bytes; narrow path_prefix`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const parsed = <S extends z.ZodType>(schema: S, text: string): z.output<S> => {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // No JSON is none of the answers either.
  }
  const { data, error } = schema.safeParse(answer);
  if (error) throw unavailable("the server answers as no Vault does; see the address");
  return data;
};

/** The caller must call `close`. */
export const openVaultReads = ({ address, token, namespace }: VaultServer): VaultReads => {
  const pool = new Pool(address, {
    connections,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    // The signal of each read bounds all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const readOnce = async (path: string): Promise<string | undefined> => {
    try {
      const { statusCode, body } = await pool.request({
        method: "GET",
        path: `/v1/${path}`,
        headers: {
          "x-vault-token": token.reveal(),
          "x-vault-request": "true",
          ...(namespace !== "" && { "x-vault-namespace": namespace }),
        },
        signal: AbortSignal.timeout(readMs),
      });
      if (statusCode === 200) return await bodyOf(body);
      await body.dump({ limit: maxHeaderBytes }).catch(() => undefined);
      if (statusCode === 404) return undefined;
      throw problemOf(statusCode);
    } catch (error) {
      throw error instanceof ProviderFailed ? error : noAnswer(error);
    }
  };
  return {
    async read(path, schema) {
      const isCurable = (error: unknown): boolean => error instanceof PassingFailure;
      const text = await retry(() => readOnce(path), { isCurable, ...readTries });
      return text === undefined ? undefined : parsed(schema, text);
    },
    close: () => pool.destroy(),
  };
};
