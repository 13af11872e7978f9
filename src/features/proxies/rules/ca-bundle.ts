import { X509Certificate } from "node:crypto";
import { maxBundleLength } from "../proxy.ts";

const block = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/** A bundle of certificates in PEM form, or what is wrong with it. */
type CaBundle = { ok: true; certificates: string } | { ok: false; problem: string };

const refuse = (problem: string): CaBundle => ({ ok: false, problem });

const isCertificate = (pem: string): boolean => {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
};

/**
 * Parses every certificate. `certificates`: these alone, without the comments between them. It never quotes the text.
 */
export const parseCaBundle = (text: string): CaBundle => {
  if (text.length > maxBundleLength) return refuse(`must not exceed ${maxBundleLength} characters`);
  const blocks = [...text.matchAll(block)];
  const other = /-----BEGIN (?!CERTIFICATE-----)/.test(text);
  if (other) return refuse("must contain nothing but certificates: take out keys and other blocks");
  const isWhole = blocks.length > 0 && !text.replace(block, "").includes("-----");
  if (!isWhole) return refuse("must be certificates in PEM form, each from BEGIN CERTIFICATE to END CERTIFICATE");
  const bad = blocks.findIndex(([pem]) => !isCertificate(pem));
  if (bad !== -1) return refuse(`the certificate number ${bad + 1} can't be read`);
  const certificates = blocks.map(([pem]) => pem).join("\n");
  // Blocks without a line break between them would become longer, and might not fit any more.
  return { ok: true, certificates: certificates.length <= text.length ? certificates : text };
};
