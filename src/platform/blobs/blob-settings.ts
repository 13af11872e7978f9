/** A bucket of S3, or of a server that speaks its protocol. */
export type S3BlobSettings = {
  kind: "s3";
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  /** Undefined: AWS. */
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
};

/** The store of blobs. `path` is absolute. */
export type BlobSettings = { kind: "folder"; path: string } | S3BlobSettings;
