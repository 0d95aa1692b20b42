//! The names of Kubernetes' own types by group and version, for the versions that clusters serve by default.

use k8s_openapi::Resource;
use k8s_openapi::api::admissionregistration::v1 as admissionregistration_v1;
use k8s_openapi::api::apps::v1 as apps_v1;
use k8s_openapi::api::authentication::v1 as authentication_v1;
use k8s_openapi::api::authorization::v1 as authorization_v1;
use k8s_openapi::api::autoscaling::v1 as autoscaling_v1;
use k8s_openapi::api::autoscaling::v2 as autoscaling_v2;
use k8s_openapi::api::batch::v1 as batch_v1;
use k8s_openapi::api::certificates::v1 as certificates_v1;
use k8s_openapi::api::coordination::v1 as coordination_v1;
use k8s_openapi::api::core::v1 as core_v1;
use k8s_openapi::api::discovery::v1 as discovery_v1;
use k8s_openapi::api::events::v1 as events_v1;
use k8s_openapi::api::flowcontrol::v1 as flowcontrol_v1;
use k8s_openapi::api::networking::v1 as networking_v1;
use k8s_openapi::api::node::v1 as node_v1;
use k8s_openapi::api::policy::v1 as policy_v1;
use k8s_openapi::api::rbac::v1 as rbac_v1;
use k8s_openapi::api::resource::v1 as resource_v1;
use k8s_openapi::api::scheduling::v1 as scheduling_v1;
use k8s_openapi::api::scheduling::v1alpha3 as scheduling_v1alpha3;
use k8s_openapi::api::storage::v1 as storage_v1;
use k8s_openapi::api::storagemigration::v1 as storagemigration_v1;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions_v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta_v1;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 as apiregistration_v1;
use k8s_openapi::schemars::JsonSchema;

use super::{BuiltinType, HasNoDefault as _, HasScope, Probe, known};

known! {
    admissionregistration_v1 = "admissionregistration.k8s.io", "v1":
        kinds {
            MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
            ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
        }
        types {
            ApplyConfiguration, AuditAnnotation, ExpressionWarning, JSONPatch, MatchCondition,
            MatchResources, MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicySpec,
            MutatingWebhook, Mutation, NamedRuleWithOperations, ParamKind, ParamRef, RuleWithOperations,
            ServiceReference, TypeChecking, ValidatingAdmissionPolicyBindingSpec,
            ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyStatus, ValidatingWebhook, Validation,
            Variable, WebhookClientConfig,
        }
    apps_v1 = "apps", "v1":
        kinds {
            ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet,
        }
        types {
            DaemonSetCondition, DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy,
            DeploymentCondition, DeploymentSpec, DeploymentStatus, DeploymentStrategy, ReplicaSetCondition,
            ReplicaSetSpec, ReplicaSetStatus, RollingUpdateDaemonSet, RollingUpdateDeployment,
            RollingUpdateStatefulSetStrategy, StatefulSetCondition, StatefulSetOrdinals,
            StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec, StatefulSetStatus,
            StatefulSetUpdateStrategy,
        }
    authentication_v1 = "authentication.k8s.io", "v1":
        kinds {}
        types {
            BoundObjectReference, SelfSubjectReview, SelfSubjectReviewStatus, TokenRequest,
            TokenRequestSpec, TokenRequestStatus, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo,
        }
    authorization_v1 = "authorization.k8s.io", "v1":
        kinds {}
        types {
            FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview,
            NonResourceAttributes, NonResourceRule, ResourceAttributes, ResourceRule,
            SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SelfSubjectRulesReview,
            SelfSubjectRulesReviewSpec, SubjectAccessReview, SubjectAccessReviewSpec,
            SubjectAccessReviewStatus, SubjectRulesReviewStatus,
        }
    autoscaling_v1 = "autoscaling", "v1":
        kinds {
            HorizontalPodAutoscaler,
        }
        types {
            CrossVersionObjectReference, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus, Scale,
            ScaleSpec, ScaleStatus,
        }
    autoscaling_v2 = "autoscaling", "v2":
        kinds {
            HorizontalPodAutoscaler,
        }
        types {
            ContainerResourceMetricSource, ContainerResourceMetricStatus, CrossVersionObjectReference,
            ExternalMetricSource, ExternalMetricStatus, HorizontalPodAutoscalerBehavior,
            HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
            HPAScalingPolicy, HPAScalingRules, MetricIdentifier, MetricSpec, MetricStatus, MetricTarget,
            MetricValueStatus, ObjectMetricSource, ObjectMetricStatus, PodsMetricSource, PodsMetricStatus,
            ResourceMetricSource, ResourceMetricStatus,
        }
    batch_v1 = "batch", "v1":
        kinds {
            CronJob, Job,
        }
        types {
            CronJobSpec, CronJobStatus, JobCondition, JobSchedulingConfiguration, JobSpec, JobStatus,
            JobTemplateSpec, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement,
            PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule, SuccessPolicy,
            SuccessPolicyRule, UncountedTerminatedPods,
        }
    certificates_v1 = "certificates.k8s.io", "v1":
        kinds {
            CertificateSigningRequest, ClusterTrustBundle, PodCertificateRequest,
        }
        types {
            CertificateSigningRequestCondition, CertificateSigningRequestSpec,
            CertificateSigningRequestStatus, ClusterTrustBundleSpec, PodCertificateRequestSpec,
            PodCertificateRequestStatus,
        }
    coordination_v1 = "coordination.k8s.io", "v1":
        kinds {
            Lease,
        }
        types {
            LeaseSpec,
        }
    core_v1 = "core", "v1":
        kinds {
            ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume,
            PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota, Secret,
            Service, ServiceAccount,
        }
        types {
            Affinity, AppArmorProfile, AttachedVolume, AWSElasticBlockStoreVolumeSource,
            AzureDiskVolumeSource, AzureFilePersistentVolumeSource, AzureFileVolumeSource, Binding,
            Capabilities, CephFSPersistentVolumeSource, CephFSVolumeSource,
            CinderPersistentVolumeSource, CinderVolumeSource, ClientIPConfig,
            ClusterTrustBundleProjection, ComponentCondition, ConfigMapEnvSource, ConfigMapKeySelector,
            ConfigMapNodeConfigSource, ConfigMapProjection, ConfigMapVolumeSource, Container,
            ContainerExtendedResourceRequest, ContainerImage, ContainerPort, ContainerResizePolicy,
            ContainerRestartRule, ContainerRestartRuleOnExitCodes, ContainerState,
            ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus,
            ContainerUser, CSIPersistentVolumeSource, CSIVolumeSource, DaemonEndpoint,
            DownwardAPIProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource,
            EndpointAddress, EndpointPort, EndpointSubset, EnvFromSource, EnvVar, EnvVarSource,
            EphemeralContainer, EphemeralVolumeSource, EventSeries, EventSource, EvictionResponder,
            ExecAction, FCVolumeSource, FileKeySelector, FlexPersistentVolumeSource, FlexVolumeSource,
            FlockerVolumeSource, GCEPersistentDiskVolumeSource, GitRepoVolumeSource,
            GlusterfsPersistentVolumeSource, GlusterfsVolumeSource, GRPCAction, HostAlias, HostIP,
            HostPathVolumeSource, HTTPGetAction, HTTPHeader, ImageVolumeSource, ImageVolumeStatus,
            ISCSIPersistentVolumeSource, ISCSIVolumeSource, KeyToPath, Lifecycle, LifecycleHandler,
            LimitRangeItem, LimitRangeSpec, LinuxContainerUser, LoadBalancerIngress, LoadBalancerStatus,
            LocalObjectReference, LocalVolumeSource, ModifyVolumeStatus, NamespaceCondition,
            NamespaceSpec, NamespaceStatus, NFSVolumeSource, NodeAddress, NodeAffinity,
            NodeAllocatableMappedResources, NodeAllocatableOverheadResources,
            NodeAllocatableResourceClaimStatus, NodeCondition, NodeConfigSource, NodeConfigStatus,
            NodeDaemonEndpoints, NodeFeatures, NodePodPreemptionPolicy, NodeRuntimeHandler,
            NodeRuntimeHandlerFeatures, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
            NodeSpec, NodeStatus, NodeSwapStatus, NodeSystemInfo, ObjectFieldSelector, ObjectReference,
            PersistentVolumeClaimCondition, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus,
            PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource, PersistentVolumeSpec,
            PersistentVolumeStatus, PhotonPersistentDiskVolumeSource, PodAffinity, PodAffinityTerm,
            PodAntiAffinity, PodCertificateProjection, PodCondition, PodDNSConfig, PodDNSConfigOption,
            PodExtendedResourceClaimStatus, PodIP, PodOS, PodReadinessGate, PodResourceClaim,
            PodResourceClaimStatus, PodSchedulingGate, PodSchedulingGroup, PodSecurityContext, PodSpec,
            PodStatus, PodTemplateSpec, PodVolumeHealth, PortStatus, PortworxVolumeSource,
            PreferredSchedulingTerm, Probe, ProjectedVolumeSource, QuobyteVolumeSource,
            RBDPersistentVolumeSource, RBDVolumeSource, ReplicationControllerCondition,
            ReplicationControllerSpec, ReplicationControllerStatus, ResourceClaim,
            ResourceFieldSelector, ResourceHealth, ResourceQuotaSpec, ResourceQuotaStatus,
            ResourceRequirements, ResourceStatus, ScaleIOPersistentVolumeSource, ScaleIOVolumeSource,
            ScopedResourceSelectorRequirement, ScopeSelector, SeccompProfile, SecretEnvSource,
            SecretKeySelector, SecretProjection, SecretReference, SecretVolumeSource, SecurityContext,
            SELinuxOptions, ServiceAccountTokenProjection, ServicePort, ServiceSpec, ServiceStatus,
            SessionAffinityConfig, SleepAction, StorageOSPersistentVolumeSource, StorageOSVolumeSource,
            Sysctl, Taint, TCPSocketAction, Toleration, TopologySelectorLabelRequirement,
            TopologySelectorTerm, TopologySpreadConstraint, TypedLocalObjectReference,
            TypedObjectReference, Volume, VolumeDevice, VolumeHealthCondition, VolumeHealthStatus,
            VolumeMount, VolumeMountStatus, VolumeNodeAffinity, VolumeProjection,
            VolumeResourceRequirements, VolumeStatus, VsphereVirtualDiskVolumeSource,
            WeightedPodAffinityTerm, WindowsSecurityContextOptions,
        }
    discovery_v1 = "discovery.k8s.io", "v1":
        kinds {
            EndpointSlice,
        }
        types {
            Endpoint, EndpointConditions, EndpointHints, EndpointPort, ForNode, ForZone,
        }
    events_v1 = "events.k8s.io", "v1":
        kinds {
            Event,
        }
        types {
            EventSeries,
        }
    flowcontrol_v1 = "flowcontrol.apiserver.k8s.io", "v1":
        kinds {
            FlowSchema, PriorityLevelConfiguration,
        }
        types {
            ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchemaCondition, FlowSchemaSpec,
            FlowSchemaStatus, GroupSubject, LimitResponse, LimitedPriorityLevelConfiguration,
            NonResourcePolicyRule, PolicyRulesWithSubjects, PriorityLevelConfigurationCondition,
            PriorityLevelConfigurationReference, PriorityLevelConfigurationSpec,
            PriorityLevelConfigurationStatus, QueuingConfiguration, ResourcePolicyRule,
            ServiceAccountSubject, Subject, UserSubject,
        }
    networking_v1 = "networking.k8s.io", "v1":
        kinds {
            Ingress, IngressClass, IPAddress, NetworkPolicy, ServiceCIDR,
        }
        types {
            HTTPIngressPath, HTTPIngressRuleValue, IngressBackend, IngressClassParametersReference,
            IngressClassSpec, IngressLoadBalancerIngress, IngressLoadBalancerStatus, IngressPortStatus,
            IngressRule, IngressServiceBackend, IngressSpec, IngressStatus, IngressTLS, IPAddressSpec,
            IPBlock, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer,
            NetworkPolicyPort, NetworkPolicySpec, ParentReference, ServiceBackendPort, ServiceCIDRSpec,
            ServiceCIDRStatus,
        }
    node_v1 = "node.k8s.io", "v1":
        kinds {
            RuntimeClass,
        }
        types {
            Overhead, Scheduling,
        }
    policy_v1 = "policy", "v1":
        kinds {
            PodDisruptionBudget,
        }
        types {
            Eviction, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus,
        }
    rbac_v1 = "rbac.authorization.k8s.io", "v1":
        kinds {
            ClusterRole, ClusterRoleBinding, Role, RoleBinding,
        }
        types {
            AggregationRule, PolicyRule, RoleRef, Subject,
        }
    resource_v1 = "resource.k8s.io", "v1":
        kinds {
            DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice,
        }
        types {
            AllocatedDeviceStatus, AllocationResult, CapacityRequestPolicy, CapacityRequestPolicyRange,
            CapacityRequirements, CELDeviceSelector, Counter, CounterSet, Device,
            DeviceAllocationConfiguration, DeviceAllocationResult, DeviceAttribute, DeviceCapacity,
            DeviceClaim, DeviceClaimConfiguration, DeviceClassConfiguration, DeviceClassSpec,
            DeviceConstraint, DeviceCounterConsumption, DeviceDerivedAttribute, DeviceRequest,
            DeviceRequestAllocationResult, DeviceSelector, DeviceSubRequest, DeviceTaint,
            DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintSelector, DeviceToleration,
            ExactDeviceRequest, NetworkDeviceData, NodeAllocatableMapping, NodeAllocatableOverhead,
            NodeAllocatableResource, OpaqueDeviceConfiguration, ResourceClaimConsumerReference,
            ResourceClaimSpec, ResourceClaimStatus, ResourceClaimTemplateSpec, ResourcePool,
            ResourceSliceSpec,
        }
    scheduling_v1 = "scheduling.k8s.io", "v1":
        kinds {
            PriorityClass,
        }
        types {}
    scheduling_v1alpha3 = "scheduling.k8s.io", "v1alpha3":
        kinds {}
        types {
            TopologyConstraint, WorkloadPodGroupAllDisruptionMode,
            WorkloadPodGroupBasicSchedulingPolicy, WorkloadPodGroupDisruptionMode,
            WorkloadPodGroupGangSchedulingPolicy, WorkloadPodGroupResourceClaim,
            WorkloadPodGroupSchedulingConstraints, WorkloadPodGroupSchedulingPolicy,
            WorkloadPodGroupSingleDisruptionMode,
        }
    storage_v1 = "storage.k8s.io", "v1":
        kinds {
            CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment,
            VolumeAttributesClass,
        }
        types {
            CSIDriverSpec, CSINodeDriver, CSINodeSpec, CSINodeStatus, StorageHealth,
            StorageHealthCondition, TokenRequest, VolumeAttachmentSource, VolumeAttachmentSpec,
            VolumeAttachmentStatus, VolumeError, VolumeNodeResources,
        }
    storagemigration_v1 = "storagemigration.k8s.io", "v1":
        kinds {
            StorageVersionMigration,
        }
        types {
            StorageVersionMigrationSpec, StorageVersionMigrationStatus,
        }
    apiregistration_v1 = "apiregistration.k8s.io", "v1":
        kinds {
            APIService,
        }
        types {
            APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference,
        }
    apiextensions_v1 = "apiextensions.k8s.io", "v1":
        kinds {
            CustomResourceDefinition,
        }
        types {
            CustomResourceColumnDefinition, CustomResourceConversion, CustomResourceDefinitionCondition,
            CustomResourceDefinitionNames, CustomResourceDefinitionSpec, CustomResourceDefinitionStatus,
            CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
            CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation,
            ExternalDocumentation, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
            JSONSchemaPropsOrStringArray, SelectableField, ServiceReference, ValidationRule,
            WebhookClientConfig, WebhookConversion,
        }
    meta_v1 = "meta", "v1":
        kinds {}
        types {
            APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions, Condition, DeleteOptions,
            FieldSelectorRequirement, FieldsV1, GroupResource, GroupVersionForDiscovery, LabelSelector,
            LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, MicroTime, ObjectMeta, OwnerReference,
            Patch, Preconditions, ServerAddressByClientCIDR, ShardInfo, Status, StatusCause, StatusDetails,
            Time,
        }
}
