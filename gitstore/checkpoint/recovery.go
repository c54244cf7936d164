package checkpoint

import "git-checkpoint/gitstore/checkpoint/document"

// CanResume returns recovery_info.can_resume, true if absent.
func (r *Record) CanResume() bool { return boolean(r.section("recovery_info"), "can_resume", true) }

// SetCanResume sets recovery_info.can_resume.
func (r *Record) SetCanResume(b bool) { r.mustSection("recovery_info").Set("can_resume", b) }

// ResumeFrom returns recovery_info.resume_from.
func (r *Record) ResumeFrom() string {
	return document.TextOf(r.section("recovery_info"), "resume_from")
}

// SetResumeFrom sets recovery_info.resume_from; an empty text deletes it.
func (r *Record) SetResumeFrom(s string) {
	setOrDelete(r.mustSection("recovery_info"), "resume_from", s)
}

// PrerequisitesMet returns recovery_info.prerequisites_met, true if absent.
func (r *Record) PrerequisitesMet() bool {
	return boolean(r.section("recovery_info"), "prerequisites_met", true)
}

// SetPrerequisitesMet sets recovery_info.prerequisites_met.
func (r *Record) SetPrerequisitesMet(b bool) {
	r.mustSection("recovery_info").Set("prerequisites_met", b)
}

// Warnings returns recovery_info.warnings.
func (r *Record) Warnings() []string { return document.TextsOf(r.section("recovery_info"), "warnings") }

// SetWarnings sets recovery_info.warnings.
func (r *Record) SetWarnings(w []string) { r.mustSection("recovery_info").Set("warnings", w) }
