"""The upload forms by name."""

from fedperm.registry import Registry
from fedperm.uploads.form import UploadForm
from fedperm.uploads.masks import MASKS

__all__ = ["UPLOAD_FORMS"]

UPLOAD_FORMS: Registry[UploadForm] = Registry(
    "upload form",
    {MASKS.name: MASKS},
    reserved={"proved": "contributions with a proof instead of masks are planned"},
)
