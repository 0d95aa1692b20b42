//! The clusters of operators: an API server in this process, or the cluster that kubectl is configured for.

use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use krator_apiserver::{Builder, Server, Serving, Snapshot};
use krator_machine::versions::Versions;
use serde::Deserialize as _;
use serde_json::Value as Json;
use tokio::process::Command;

use crate::cli::against;
use crate::cli::cluster::stored_versions;
use crate::compare::Listed;
use crate::observed::development::Development;
use crate::versions;

/// The field manager of krator's applies.
const MANAGER: &str = "krator";

/// The group of webhooks and policies.
const ADMISSION: &str = "admissionregistration.k8s.io";

/// The file of the objects that a session begins with.
const OBJECTS: &str = "objects.json";

/// An API server that operators run against.
pub enum Cluster {
    /// An API server in this process.
    Embedded(Box<Embedded>),
    /// The cluster that kubectl is configured for.
    Configured,
}

impl Cluster {
    /// The kubeconfig for operators, if it is not kubectl's own.
    pub fn kubeconfig(&self) -> Option<&Path> {
        match self {
            Cluster::Embedded(embedded) => Some(&embedded.kubeconfig),
            Cluster::Configured => None,
        }
    }

    /// Applies the objects of a manifest.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or if the API server refuses an object.
    pub async fn apply(&self, manifest: &Path) -> anyhow::Result<()> {
        match self {
            Cluster::Embedded(embedded) => {
                for object in objects(manifest)? {
                    embedded.apply(&object).await?;
                }
                Ok(())
            }
            Cluster::Configured => {
                let manager = format!("--field-manager={MANAGER}");
                let applied = Command::new("kubectl")
                    .args([
                        "apply",
                        "--server-side",
                        "--force-conflicts",
                        &manager,
                        "--filename",
                    ])
                    .arg(manifest)
                    .status()
                    .await
                    .context("cannot run kubectl, which applies manifests to clusters")?;
                if !applied.success() {
                    bail!("kubectl could not apply `{}`", manifest.display());
                }
                Ok(())
            }
        }
    }

    /// Passes the stored objects of a resource, named as `moose.v1.animals.com`, to `sees`.
    ///
    /// # Errors
    ///
    /// If the objects cannot be listed.
    pub fn stored(&self, resource: &str, sees: &mut dyn FnMut(&Listed)) -> anyhow::Result<()> {
        match self {
            Cluster::Embedded(embedded) => {
                let mut parts = resource.splitn(3, '.');
                let [plural, version, group] = [(); 3].map(|()| parts.next().unwrap_or_default());
                let objects = embedded.server.objects_in(group, version, plural)?;
                let definition = format!("{plural}.{group}");
                let definitions = embedded
                    .server
                    .objects("apiextensions.k8s.io", "customresourcedefinitions");
                let definition = definitions
                    .iter()
                    .find(|it| it["metadata"]["name"] == *definition);
                sees(&Listed {
                    objects: objects.iter().map(|object| Json::clone(object)).collect(),
                    versions: definition.and_then(|definition| stored_versions(definition)),
                    // No forecast is needed: the objects of `krator dev` show the effect of an edit at once.
                    time: None,
                });
                Ok(())
            }
            Cluster::Configured => against::stored(resource, sees),
        }
    }

    /// Whether the server was started without objects of an earlier session.
    pub fn is_new(&self) -> bool {
        match self {
            Cluster::Embedded(embedded) => embedded.is_new,
            Cluster::Configured => false,
        }
    }

    /// Saves the objects for the next session. A configured cluster stores them itself.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self) -> anyhow::Result<()> {
        match self {
            Cluster::Embedded(embedded) => embedded.save(),
            Cluster::Configured => Ok(()),
        }
    }
}

/// The objects of a manifest.
///
/// # Errors
///
/// If the file cannot be read, or is not YAML.
pub fn objects(manifest: &Path) -> anyhow::Result<Vec<Json>> {
    let name = manifest.display();
    let text = fs::read_to_string(manifest).with_context(|| format!("cannot read `{name}`"))?;
    let documents = serde_yaml::Deserializer::from_str(&text).map(Json::deserialize);
    let objects: Result<Vec<Json>, _> = documents.collect();
    let objects = objects.with_context(|| format!("`{name}` is not a manifest"))?;
    Ok(objects.into_iter().filter(|object| !object.is_null()).collect())
}

/// An API server in this process, over HTTPS for operators and kubectl.
pub struct Embedded {
    server: Server,
    _serving: Serving,
    kubeconfig: PathBuf,
    /// The file in which the objects are saved between two sessions.
    snapshot: Option<PathBuf>,
    /// Whether the server was started without objects.
    is_new: bool,
    /// The kinds and versions that the server converts.
    versions: SharedVersions,
}

/// The versions of the kinds of an operator, which change with its description.
type SharedVersions = Arc<Mutex<Vec<Versions>>>;

impl Embedded {
    /// Starts a server without objects, and without saving them at its end. Its kubeconfig is written to a folder.
    ///
    /// # Errors
    ///
    /// If the server cannot listen, or if the folder cannot be written.
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        Self::serve(Server::builder(), folder).await
    }

    /// Starts a server without objects. Its objects can be saved, and [`resume`](Self::resume) starts with them.
    ///
    /// # Errors
    ///
    /// As of [`start`](Self::start).
    pub async fn fresh(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            snapshot: Some(folder.join(OBJECTS)),
            ..Self::start(folder).await?
        })
    }

    /// Starts a server with the objects that were saved to the same folder.
    ///
    /// # Errors
    ///
    /// As of [`start`](Self::start), and if the saved objects cannot be read.
    pub async fn resume(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(OBJECTS);
        let saved = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(anyhow::Error::from),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::fresh(folder).await,
            Err(error) => Err(error.into()),
        };
        let saved: Snapshot = saved.with_context(|| {
            let path = path.display();
            format!("cannot read the objects of the last session in `{path}`; `--fresh` starts without them")
        })?;
        Ok(Self {
            snapshot: Some(path),
            is_new: false,
            ..Self::serve(Server::builder().restore(saved), folder).await?
        })
    }

    async fn serve(builder: Builder, folder: &Path) -> anyhow::Result<Self> {
        // RBAC is enforced, as in a cluster: the user of the kubeconfig may do everything, and users that it
        // impersonates have the rights of their roles.
        let versions = SharedVersions::default();
        let known = Arc::clone(&versions);
        let convert = move |object: &Json, to: &str| {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let has_functions = known
                .iter()
                .any(|versions| versions.are_of(object, to) && versions.have_functions());
            match has_functions {
                // Only the operator contains these functions, and no other value may be stored in place of their
                // results.
                true => Err("the operator that converts it is not running".to_owned()),
                false => versions::convert(&known, object, to, &|_, _, value| Ok(value)),
            }
        };
        let server = builder.rbac(true).convert(Arc::new(convert)).start();
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let serving = server
            .serve(address)
            .await
            .context("cannot serve on this machine")?;
        let kubeconfig = std::path::absolute(folder)
            .context("cannot determine the current folder")?
            .join("kubeconfig");
        write_private(&kubeconfig, serving.kubeconfig().as_bytes())?;
        Ok(Self {
            server,
            _serving: serving,
            kubeconfig,
            snapshot: None,
            is_new: true,
            versions,
        })
    }

    /// Sets the kinds whose objects the server converts, as the operator does in a cluster.
    pub fn convert(&self, versions: Vec<Versions>) {
        *self.versions.lock().unwrap_or_else(PoisonError::into_inner) = versions;
    }

    /// Whether objects of a definition are converted by functions of the author, which only the operator has.
    pub fn calls_functions(&self, definition: &Json) -> bool {
        let known = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |versions: &&Versions| {
            definition["spec"]["names"]["kind"] == *versions.kind
                && definition["spec"]["group"] == *versions.group
        };
        known.iter().find(is_same).is_some_and(Versions::have_functions)
    }

    /// The server itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The kubeconfig for kubectl and operators.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Marks this server for its clients as that of `krator dev`, and publishes whether an operator runs.
    ///
    /// # Errors
    ///
    /// If the server refuses the object.
    pub async fn mark(&self, acts: bool) -> anyhow::Result<()> {
        let process = std::process::id().to_string();
        self.apply(&Development { process, acts }.mark()).await
    }

    /// Deletes the objects of a resource that krator has applied, except those in `kept`.
    ///
    /// # Errors
    ///
    /// If the server refuses a deletion.
    pub async fn delete_others(&self, resource: &str, kept: &[Json]) -> anyhow::Result<()> {
        for object in self.server.objects(ADMISSION, resource) {
            let mut managers = object["metadata"]["managedFields"]
                .as_array()
                .into_iter()
                .flatten();
            let is_ours = managers.any(|entry| entry["manager"] == MANAGER);
            let is_same = |kept: &&Json| {
                kept["kind"] == object["kind"] && kept["metadata"]["name"] == object["metadata"]["name"]
            };
            if is_ours && kept.iter().find(is_same).is_none() {
                self.server.delete(&object).await?;
            }
        }
        Ok(())
    }

    /// Applies an object.
    ///
    /// # Errors
    ///
    /// If the server refuses the object.
    pub async fn apply(&self, object: &Json) -> anyhow::Result<()> {
        self.server.apply(object, MANAGER).await?;
        Ok(())
    }

    fn save(&self) -> anyhow::Result<()> {
        let Some(path) = &self.snapshot else { return Ok(()) };
        let snapshot =
            serde_json::to_vec(&self.server.snapshot()).context("cannot write the objects as JSON")?;
        write_private(path, &snapshot)
    }
}

/// Writes a file atomically, readable only by its owner.
fn write_private(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        fs::create_dir_all(folder)?;
        // A temporary file is not readable by other users.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(contents)?;
        file.persist(path)?;
        std::io::Result::Ok(())
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[tokio::test]
    async fn whoever_is_acted_as_may_do_what_roles_say() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let embedded = Embedded::start(folder.path()).await.expect("it listens");
        let code = async |user: Option<&str>| {
            let mut request = Request::get("/api/v1/namespaces/default/secrets");
            if let Some(user) = user {
                request = request.header("impersonate-user", user);
            }
            let request = request.body(String::new()).expect("a request");
            embedded.server().answer(request).await.status().as_u16()
        };
        assert_eq!(code(None).await, 200);
        assert_eq!(code(Some("jane")).await, 403);
    }
}
