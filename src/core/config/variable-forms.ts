/** The forms that the values of environment variables have. */
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Sensitive } from "../../platform/base/sensitive.ts";

/** A comma-separated list; blanks around the items are ignored. */
export const list = z
  .string()
  .default("")
  .transform((text) => text.split(",").flatMap((item) => item.trim() || []));

/** As browsers send it. Not `null`, which pages of anybody send from a sandboxed frame. */
const isOrigin = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/\sA-Z?#*]+$/.test(text);

/** A list of what browsers send as `Origin`. */
export const origins = list.refine(
  (texts) => texts.every(isOrigin),
  "expected origins such as https://console.example, in lower case, no path",
);

/** A list of servers that the service may call: each in the form of `URL.origin`, which is compared exactly. */
export const serverOrigins = list.refine(
  (texts) => texts.every((text) => /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text),
  "expected origins such as https://vault.example:8200, in lower case, without a path or the usual port",
);

/** 0: any free one. */
export const port = z.coerce.number().int().min(0).max(65535);

/** From `min` to `max`; `fallback` when the variable is left out. */
export const number = (fallback: number, min: number, max = Infinity) =>
  z.coerce.number().min(min).max(max).default(fallback);

/** The same without a fraction and without a largest one. */
export const whole = (fallback: number, min: number) => z.coerce.number().int().min(min).default(fallback);

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** As OpenTelemetry's variable has them. What has no name is left out. */
export const otlpHeaders = (text: string): Record<string, Sensitive> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      const name = pair.slice(0, at).trim().toLowerCase();
      return at > 0 ? [[name, new Sensitive(decoded(pair.slice(at + 1).trim()))]] : [];
    }),
  );

/** A comma-separated list of CIDR ranges. */
export const ranges = list.pipe(
  z.array(z.union([z.cidrv4(), z.cidrv6()], { error: "must be ranges such as 10.0.0.0/8 or fd00::/8" })),
);

/** Whole numbers by name, as `a=1,b=2`. */
export const numbersByName = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .refine(
      (text) => /^([a-z]+=\d{1,9}(,(?!$)|$))*$/.test(text),
      "must be names with numbers such as vaults=500,profiles=100",
    )
    .transform((text) =>
      Object.fromEntries(
        text.split(",").flatMap((entry): [string, number][] => {
          const [name, count] = entry.split("=");
          return name ? [[name, Number(count)]] : [];
        }),
      ),
    );

/** A path or a name; an empty text means none. */
export const optional = z
  .string()
  .optional()
  .transform((path) => path || undefined);

/** Where blobs are, before the settings of S3 are known. */
type BlobPlace = { kind: "folder"; path: string } | { kind: "s3"; bucket: string; prefix: string };

/** The form of a bucket's name and of a prefix; a prefix is stored with a slash at its end. */
const bucketPlace = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.-]+)*)\/?$/;

const readBlobPlace = (text: string): BlobPlace | undefined => {
  if (/^file:\/\/\/./.test(text) && URL.canParse(text)) return { kind: "folder", path: fileURLToPath(text) };
  const [, bucket, prefix = ""] = bucketPlace.exec(text) ?? [];
  return bucket ? { kind: "s3", bucket, prefix: prefix && `${prefix.slice(1)}/` } : undefined;
};

/** A place of blobs; undefined when the variable is left out. */
export const blobPlace = optional.transform((text, context) => {
  const place = text === undefined ? undefined : readBlobPlace(text);
  if (text !== undefined && !place) context.addIssue("must be file:///folder, s3://bucket or s3://bucket/prefix");
  return place;
});
