{{/* The pod that looks at everything of the release that can be wrong, and uses it as a caller does; prints each finding and the way out. */}}
{{- define "browserpool.doctorSpec" -}}
restartPolicy: Never
serviceAccountName: {{ include "browserpool.doctorName" . }}
automountServiceAccountToken: true
enableServiceLinks: false
# The first browser may have to wait until the kubelet has pulled its image.
activeDeadlineSeconds: 600
{{- with .Values.test.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "browserpool.placement" (list . "test" .Values.test) | trim }}
{{- . | nindent 0 }}
{{- end }}
securityContext:
  {{- include "browserpool.podSecurity" (list . .Values.test) | nindent 2 }}
containers:
  - name: doctor
    image: {{ include "browserpool.ownImage" (list . .Values.image "image") }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - doctor
      - --cluster
      - --namespace={{ .Release.Namespace }}
      - --release={{ .Release.Name }}
      - --project={{ .Values.defaultProject.namespace }}
      - --cluster-domain={{ .Values.clusterDomain }}
      {{- with .Values.test.pool }}
      - --pool={{ . }}
      {{- end }}
    env:
      - name: KERNEL_BASE_URL
        value: http://{{ include "browserpool.fullname" . }}-api.{{ .Release.Namespace }}.svc:{{ .Values.api.service.port }}
      - name: KERNEL_API_KEY
        valueFrom:
          secretKeyRef:
            name: {{ .Values.test.apiKeySecret.name | default (include "browserpool.initialKeySecret" .) }}
            key: {{ .Values.test.apiKeySecret.key }}
    resources:
      {{- toYaml .Values.test.resources | nindent 6 }}
    securityContext:
      {{- include "browserpool.containerSecurity" (list . .Values.test) | nindent 6 }}
    volumeMounts:
      - name: tmp
        mountPath: /tmp
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 16Mi
{{- end -}}

{{/* Name of the doctor's account, and of what it may read. */}}
{{- define "browserpool.doctorName" -}}
{{- printf "%s-test" (include "browserpool.fullname" .) -}}
{{- end -}}
