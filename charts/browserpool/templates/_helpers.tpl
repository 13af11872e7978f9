{{/* Name of the chart in labels. */}}
{{- define "browserpool.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Prefix of every object's name; 40 characters leave room for the longest suffix. */}}
{{- define "browserpool.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "browserpool.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "browserpool.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of an object. Call with (list $ "component"). */}}
{{- define "browserpool.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name ($root.Chart.Version | replace "+" "_") }}
{{ include "browserpool.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: browserpool
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
Labels and annotations of an object. Those of the values are on objects, never on pods, which would restart, nor in selectors. Call with
(list $ "component") or (list $ "component" (dict "labels" … "annotations" …)): the object's own, which win.
*/}}
{{- define "browserpool.metadata" -}}
{{- $own := dict -}}
{{- if gt (len .) 2 }}{{ $own = index . 2 }}{{ end -}}
labels:
  {{- include "browserpool.labels" . | nindent 2 }}
  {{- with $own.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) ($own.annotations | default dict) (index . 0).Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The labels that select pods of a component; they never change. Call with (list $ "component"). */}}
{{- define "browserpool.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "browserpool.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Name of the ServiceAccount of a component. Call with (list $ "api") or (list $ "operator"). */}}
{{- define "browserpool.account" -}}
{{- $account := (index (index . 0).Values (index . 1)).serviceAccount -}}
{{- if $account.create -}}
{{- $account.name | default (printf "%s-%s" (include "browserpool.fullname" (index . 0)) (index . 1)) -}}
{{- else -}}
{{- required (printf "%s.serviceAccount.name: name the account that you have made, or set create" (index . 1)) $account.name -}}
{{- end -}}
{{- end -}}

{{/* The name of that account as a user of the Kubernetes API. Call in the same way. */}}
{{- define "browserpool.user" -}}
system:serviceaccount:{{ (index . 0).Release.Namespace }}:{{ include "browserpool.account" . }}
{{- end -}}

{{/* Labels of pods. They omit the chart's version, so that pods restart only when their own contents change. */}}
{{- define "browserpool.podLabels" -}}
{{ include "browserpool.selector" . }}
app.kubernetes.io/part-of: browserpool
{{- end -}}

{{/* Hash of the data of a ConfigMap of this chart, without its labels. Call with (list $ "path/of/template.yaml"). */}}
{{- define "browserpool.checksum" -}}
{{- $root := index . 0 -}}
{{- (include (print $root.Template.BasePath "/" (index . 1)) $root | fromYaml).data | toJson | sha256sum -}}
{{- end -}}

{{/* repository:tag or repository@digest; the tag defaults to the version of the app. Call with (list $ image "error without a repository"). */}}
{{- define "browserpool.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $repository := required (index . 2) $image.repository -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository ($image.tag | default $root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* An image of Browserpool. Nobody publishes it, so its repository has no default. Call with (list $ image "name of the value"). */}}
{{- define "browserpool.ownImage" -}}
{{- $missing := printf "%s.repository: name your own image, nobody publishes one: build it with `npm run image` and push it (docs/images.md)" (index . 2) -}}
{{- include "browserpool.image" (list (index . 0) (index . 1) $missing) -}}
{{- end -}}

{{/* Maps as one: a later one wins by whole fields, and null takes a field away. Call with a list of maps. */}}
{{- define "browserpool.merged" -}}
{{- $result := dict -}}
{{- range . }}
{{- range $field, $value := . }}
{{- if kindIs "invalid" $value }}{{ $_ := unset $result $field }}{{ else }}{{ $_ := set $result $field $value }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $result -}}
{{- end -}}

{{/* Security of a container of the release. Call with (list $ values of its component). */}}
{{- define "browserpool.containerSecurity" -}}
{{- include "browserpool.merged" (list (index . 0).Values.containerSecurityContext (index . 1).containerSecurityContext) -}}
{{- end -}}

{{/* Security of a pod of the release; the images run as the user 10001. Call in the same way. */}}
{{- define "browserpool.podSecurity" -}}
{{- include "browserpool.merged" (list (index . 0).Values.podSecurityContext (index . 1).podSecurityContext) -}}
{{- end -}}

{{/* Where pods of a component may run. Call with (list $ "component" values). */}}
{{- define "browserpool.placement" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- /* Not topologySpreadConstraints: they ignore nodes that lack one of the labels, e.g. that of the zone. */}}
{{- $apart := list -}}
{{- range $values.topologySpread }}
{{- $selector := dict "matchLabels" (include "browserpool.selector" (list $root $component) | fromYaml) -}}
{{- /* By version: replicas that a rollout takes away do not push the new ones onto one node. */}}
{{- $term := dict "topologyKey" . "labelSelector" $selector "matchLabelKeys" (list "pod-template-hash") -}}
{{- $apart = append $apart (dict "weight" 100 "podAffinityTerm" $term) -}}
{{- end }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{- toYaml (merge (dict) . (dict "labelSelector" (dict "matchLabels" (include "browserpool.selector" (list $root $component) | fromYaml)))) | nindent 4 }}
  {{- end }}
{{- end }}
{{- $own := dict -}}
{{- with $apart }}
{{- $_ := set $own "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" .) -}}
{{- end }}
{{- with mustMergeOverwrite $own (deepCopy ($values.affinity | default dict)) }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The IP families of a Service. */}}
{{- define "browserpool.ipFamilies" -}}
{{- with .Values.services.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.services.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}

{{- define "browserpool.initialKeySecret" -}}
{{- printf "%s-initial-key" (include "browserpool.fullname" .) -}}
{{- end -}}

{{/* The Secret with the Redis URL under `url`, and the bundled Redis' users under `users.acl`. */}}
{{- define "browserpool.redisSecret" -}}
{{- .Values.redis.existingSecret | default (printf "%s-redis" (include "browserpool.fullname" .)) -}}
{{- end -}}

{{/* What browsers can be given here. Network namespaces need the seccomp profile of Chromium's sandbox. */}}
{{- define "browserpool.browserFeatures" -}}
{{- $features := list "chrome_policy" -}}
{{- if .Values.browsers.sandbox }}{{ $features = append $features "network" }}{{ end -}}
{{- if eq .Values.browsers.memory.max "16GiB" }}{{ $features = append $features "memory_16GiB" }}{{ end -}}
{{- if .Values.browsers.gpu.resource }}{{ $features = append $features "gpu" }}{{ end -}}
{{- join "," $features -}}
{{- end -}}

{{/* Environment of every process of the service. */}}
{{- define "browserpool.env" -}}
- name: BROWSERPOOL_SYSTEM_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: BROWSERPOOL_HOST
  value: {{ .Values.listenAddress | quote }}
- name: BROWSERPOOL_LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: BROWSERPOOL_DEFAULT_PROJECT
  value: {{ .Values.defaultProject.id | quote }}
- name: BROWSERPOOL_POOLED_SESSIONS
  value: {{ .Values.limits.pooledSessions | quote }}
- name: BROWSERPOOL_FILL_RATE_CAP
  value: {{ .Values.limits.fillRatePerMinute | quote }}
- name: BROWSERPOOL_DRAIN_DEADLINE_SECONDS
  value: {{ .Values.browsers.drainDeadlineSeconds | int | quote }}
- name: BROWSERPOOL_BROWSER_FEATURES
  value: {{ include "browserpool.browserFeatures" . | quote }}
- name: BROWSERPOOL_PROCESSES
  value: {{ ternary "on" "off" .Values.browsers.processes | quote }}
- name: BROWSERPOOL_MAX_SESSION_SECONDS
  value: {{ .Values.limits.maxSessionSeconds | int | quote }}
- name: BROWSERPOOL_ON_DEMAND_SESSIONS
  value: {{ .Values.limits.onDemandSessions | quote }}
- name: BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS
  value: {{ .Values.limits.projectOnDemandSessions | quote }}
- name: BROWSERPOOL_BLANK_BROWSERS
  value: {{ .Values.limits.blankBrowsers | quote }}
- name: BROWSERPOOL_OBJECTS_PER_PROJECT
  value: {{ include "browserpool.projectObjects" . | quote }}
- name: BROWSERPOOL_EXTENSION_BYTES_PER_PROJECT
  value: {{ .Values.limits.projectExtensionBytes | int64 | quote }}
- name: BROWSERPOOL_POLICY_BYTES_PER_PROJECT
  value: {{ .Values.limits.projectPolicyBytes | int64 | quote }}
- name: BROWSERPOOL_REGISTRY_MIN_TRIALS
  value: {{ .Values.registry.minTrials | int | quote }}
- name: BROWSERPOOL_REGISTRY_MIN_SUCCESS_RATE
  value: {{ .Values.registry.minSuccessRate | quote }}
{{- with .Values.registry.proxyCountries }}
- name: BROWSERPOOL_REGISTRY_PROXY_COUNTRIES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.telemetry.privateDestinations }}
- name: BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.registry.sessionOutcomes.enabled }}
- name: BROWSERPOOL_SESSION_OUTCOMES
  value: "on"
{{- end }}
{{- with .Values.limits.endedSessions }}
- name: BROWSERPOOL_ENDED_LEASES_PER_POOL
  value: {{ int64 .perPool | quote }}
- name: BROWSERPOOL_ENDED_BYTES_PER_POOL
  value: {{ int64 .perPoolBytes | quote }}
- name: BROWSERPOOL_ENDED_LEASES
  value: {{ int64 .all | quote }}
- name: BROWSERPOOL_ENDED_BYTES
  value: {{ int64 .allBytes | quote }}
{{- end }}
{{- with .Values.limits.telemetry }}
- name: BROWSERPOOL_TELEMETRY_BYTES_PER_SESSION
  value: {{ int64 .perSessionBytes | quote }}
- name: BROWSERPOOL_TELEMETRY_SECONDS
  value: {{ int64 .seconds | quote }}
- name: BROWSERPOOL_TELEMETRY_ENDED_BYTES_PER_PROJECT
  value: {{ int64 .perProjectEndedBytes | quote }}
{{- end }}
{{- with .Values.limits.replays }}
- name: BROWSERPOOL_REPLAY_SECONDS
  value: {{ int64 .seconds | quote }}
- name: BROWSERPOOL_REPLAY_BYTES_PER_PROJECT
  value: {{ int64 .perProjectBytes | quote }}
{{- end }}
{{- with .Values.limits.keptFiles }}
- name: BROWSERPOOL_KEPT_FILES_SECONDS
  value: {{ int64 .seconds | quote }}
- name: BROWSERPOOL_KEPT_FILES_BYTES_PER_PROJECT
  value: {{ int64 .perProjectBytes | quote }}
{{- end }}
{{- with .Values.blobs }}
{{- if .existingClaim }}
- name: BROWSERPOOL_BLOBS
  value: file:///var/lib/browserpool/blobs
{{- else if .s3.bucket }}
- name: BROWSERPOOL_BLOBS
  value: {{ printf "s3://%s" (trimSuffix "/" (printf "%s/%s" .s3.bucket .s3.prefix)) | quote }}
- name: BROWSERPOOL_S3_REGION
  value: {{ .s3.region | quote }}
{{- with .s3.endpoint }}
- name: BROWSERPOOL_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .s3.existingSecret }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.blobs.s3.existingSecret }}
      key: {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "browserpool.redisSecret" . }}
      key: url
{{- if .Values.redis.ca.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/browserpool/redis-ca/{{ .Values.redis.ca.key }}
{{- end }}
{{- end -}}

{{/* Probes of both processes: the kubelet restarts a hung one; Services skip one while Redis or Kubernetes is unavailable. */}}
{{- define "browserpool.probes" -}}
startupProbe:
  httpGet:
    path: /livez
    port: ops
  periodSeconds: 1
  timeoutSeconds: 2
  # The process is alive from its start; readiness reports whether Redis and Kubernetes answer.
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /livez
    port: ops
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: ops
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{- define "browserpool.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .Values.redis.ca.configMap }}
- name: redis-ca
  mountPath: /etc/browserpool/redis-ca
  readOnly: true
{{- end }}
{{- if .Values.blobs.existingClaim }}
- name: blobs
  mountPath: /var/lib/browserpool/blobs
{{- end }}
{{- end -}}

{{- define "browserpool.volumes" -}}
- name: tmp
  # Room for four uploads at once.
  emptyDir:
    sizeLimit: 320Mi
{{- with .Values.redis.ca.configMap }}
- name: redis-ca
  configMap:
    name: {{ . }}
{{- end }}
{{- with .Values.blobs.existingClaim }}
- name: blobs
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- end -}}

{{/* Only a new process reads a new Redis URL. With a Secret of the user's own the chart has nothing to compare. */}}
{{- define "browserpool.redisChecksum" -}}
checksum/redis: {{ toJson (list .Values.redis.url .Values.redis.existingSecret .Values.redis.ca) | sha256sum }}
{{- end -}}

{{/* The URL under which callers reach the API: api.publicUrl, else the URL of the Ingress. A Gateway's URL can't be known. */}}
{{- define "browserpool.publicUrl" -}}
{{- if .Values.api.publicUrl -}}
{{- .Values.api.publicUrl -}}
{{- else if .Values.api.httpRoute.enabled -}}
{{- fail "api.publicUrl: give the URL that callers use, e.g. https://pools.example.com: api.httpRoute is enabled, and only its Gateway knows whether it serves TLS" -}}
{{- else if .Values.api.ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (not (empty .Values.api.ingress.tls))) .Values.api.ingress.host -}}
{{- end -}}
{{- end -}}

{{/* Host names that requests may carry: the Service under each of its names, and the pod itself for probes and scrapes. */}}
{{- define "browserpool.allowedHosts" -}}
{{- $service := printf "%s-api" (include "browserpool.fullname" .) -}}
{{- $names := list "$(POD_IP)" -}}
{{- range list $service (printf "%s-ops" $service) -}}
{{- $names = concat $names (list . (printf "%s.%s" . $.Release.Namespace) (printf "%s.%s.svc" . $.Release.Namespace) (printf "%s.%s.svc.%s" . $.Release.Namespace $.Values.clusterDomain)) -}}
{{- end -}}
{{- if .Values.api.ingress.enabled -}}
{{- $names = append $names .Values.api.ingress.host -}}
{{- end -}}
{{- join "," (concat $names .Values.api.httpRoute.hostnames .Values.api.allowedHosts) -}}
{{- end -}}

{{- define "browserpool.systemPriority" -}}
{{- if .Values.priorityClasses.create -}}
{{- include "browserpool.fullname" . }}-system
{{- end -}}
{{- end -}}

{{/* The bundled Redis' users file. One user, with the commands of docs/redis.md; the file holds only the password's SHA-256. */}}
{{- define "browserpool.redisUsers" -}}
user default off resetpass resetkeys resetchannels -@all
user browserpool on #{{ . | sha256sum }} resetkeys ~bp:* resetchannels &bp:* -@all +@hash +@sortedset +@string +xadd +xrange +xrevrange +eval +evalsha +del +unlink +exists +expire +time +publish +spublish +subscribe +ssubscribe +sunsubscribe +ping +select +info +cluster|slots +cluster|info
{{- end -}}

{{- define "browserpool.browserPriority" -}}
{{- if .Values.priorityClasses.create -}}
{{- include "browserpool.fullname" . }}-browser
{{- end -}}
{{- end -}}

{{/* The operator's label on every browser pod. */}}
{{- define "browserpool.browserSelector" -}}
matchLabels:
  app.kubernetes.io/name: browserpool-browser
{{- end -}}

{{/* A project admits only pods of this Pod Security level, and warns of and logs those that it refuses. */}}
{{- define "browserpool.podSecurityLabels" -}}
pod-security.kubernetes.io/enforce: restricted
pod-security.kubernetes.io/warn: restricted
pod-security.kubernetes.io/audit: restricted
{{- end -}}

{{/* What the namespace of a project has besides other objects. It outlives the release. Call with the project's id. */}}
{{- define "browserpool.projectMetadata" -}}
labels:
  browserpool.dev/project: {{ . | quote }}
  {{- include "browserpool.podSecurityLabels" . | nindent 2 }}
annotations:
  helm.sh/resource-policy: keep
{{- end -}}

{{/* CEL: nobody gives a pod or container an SELinux type, nor a level unless the values allow that. Call with (list $ "place"). */}}
{{- define "browserpool.ownSeLinux" -}}
{{- $options := print (index . 1) ".?securityContext.?seLinuxOptions" -}}
{{- if (index . 0).Values.rbac.seLinuxLevel -}}
{{ $options }}.?type.orValue('') == '' && {{ $options }}.?role.orValue('') == '' && {{ $options }}.?user.orValue('') == ''
{{- else -}}
!{{ $options }}.hasValue()
{{- end -}}
{{- end -}}

{{/* Names of the pull secrets that projects get copies of, as JSON. */}}
{{- define "browserpool.copiedPullSecrets" -}}
{{- $names := list -}}
{{- if .Values.browsers.copyPullSecrets -}}
{{- range .Values.imagePullSecrets }}{{ $names = append $names .name }}{{ end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/* The folder of the audit file; empty where audit lines go to no file. */}}
{{- define "browserpool.auditFolder" -}}
{{- $file := .Values.api.auditLog -}}
{{- if not (or (eq $file "stdout") (hasPrefix "/dev/" $file)) -}}
{{- dir $file -}}
{{- end -}}
{{- end -}}

{{- define "browserpool.crdMetadata" -}}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep") dict .Values.crds.keep -}}
{{- include "browserpool.metadata" (list . "crds" (dict "annotations" $keep)) -}}
{{- end -}}

{{/* Path of the browsers' profile below the kubelet's seccomp folder. */}}
{{- define "browserpool.seccompProfile" -}}
{{- if .Values.browsers.seccomp.securityProfilesOperator.enabled -}}
operator/{{ include "browserpool.fullname" . }}-chromium.json
{{- else -}}
{{- .Values.browsers.seccomp.profile -}}
{{- end -}}
{{- end -}}

{{/* Where spans go, for api and operator. */}}
{{- define "browserpool.tracingEnv" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .sampleRatio | quote }}
{{- with .headersSecret }}
{{- if .name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* How sites are analyzed, for api and operator. */}}
{{- define "browserpool.analysesEnv" -}}
{{- if .Values.registry.analyses.browsers }}
- name: BROWSERPOOL_ANALYSES_FILE
  value: /etc/browserpool/analyses/analyses.yaml
{{- end }}
{{- end }}

{{- define "browserpool.analysesMount" -}}
{{- if .Values.registry.analyses.browsers }}
- name: analyses
  mountPath: /etc/browserpool/analyses
  readOnly: true
{{- end }}
{{- end }}

{{- define "browserpool.analysesVolume" -}}
{{- if .Values.registry.analyses.browsers }}
- name: analyses
  configMap:
    name: {{ include "browserpool.fullname" . }}-analyses
{{- end }}
{{- end }}

{{/* The provider of managed proxies, for api and operator: its file, and beside it the files that it names. */}}
{{- define "browserpool.proxyProviderEnv" -}}
{{- if .Values.proxies.provider.gateways }}
- name: BROWSERPOOL_PROXY_PROVIDER_FILE
  value: /etc/browserpool/proxy-provider/provider.yaml
{{- end }}
{{- end }}

{{- define "browserpool.proxyProviderMount" -}}
{{- if .Values.proxies.provider.gateways }}
- name: proxy-provider
  mountPath: /etc/browserpool/proxy-provider
  readOnly: true
{{- end }}
{{- end }}

{{- define "browserpool.proxyProviderVolume" -}}
{{- with .Values.proxies.provider }}
{{- if .gateways }}
- name: proxy-provider
  projected:
    defaultMode: 0440
    sources:
      - configMap:
          name: {{ include "browserpool.fullname" $ }}-proxy-provider
      {{- with .existingSecret }}
      - secret:
          name: {{ . }}
      {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The bounds of objects in a project, as `plural=count,…`. */}}
{{- define "browserpool.projectObjects" -}}
{{- $bounds := list -}}
{{- range $plural, $most := .Values.limits.projectObjects }}
{{- $bounds = append $bounds (printf "%s=%d" $plural (int $most)) }}
{{- end }}
{{- join "," $bounds }}
{{- end -}}

{{/* The kinds of blank browsers that each project keeps. */}}
{{- define "browserpool.stockKinds" -}}
{{- $kinds := list -}}
{{- range $kind, $stock := .Values.onDemand.stock -}}
{{- if gt (int $stock.max) 0 -}}{{- $kinds = append $kinds $kind -}}{{- end -}}
{{- end -}}
{{- join "," $kinds -}}
{{- end }}
